// Which views there are, in order, and which sections each takes. A section that no view names gets a view of its own: a new question appears by itself.
import { columnIndex, findTable, type Section, type Table } from '../data/document.ts';
import { h } from '../dom.ts';
import { type Scope, allSections, section } from '../scope.ts';
import { legend, stack } from './bars.ts';
import { breakdownOfFigures, idleParts, isOutlier } from './breakdown.ts';
import { callTree } from './calltree.ts';
import { binsOf, histogram } from './histogram.ts';
import { memoryCharts } from './memorychart.ts';
import { shadeOfClass } from './overview.ts';
import { roofline } from './roofline.ts';
import { headingOf, sectionPanel, sectionParts } from './section.ts';
import { stepBars } from './stepbars.ts';
import { treemap, type Tile } from './treemap.ts';

export interface Actions {
  findInTimeline: (name: string) => void;
  showStep: (step: number) => void;
}
export interface View { key: string; title: string; render: (scope: Scope, actions: Actions) => HTMLElement | null }

const view = (...parts: (HTMLElement | null | undefined)[]): HTMLElement | null => {
  const shown = parts.filter((part): part is HTMLElement => !!part);
  return shown.length === 0 ? null : h('div', {}, shown);
};
const plain = (scope: Scope, keys: string[], actions?: Actions): HTMLElement[] =>
  keys.flatMap((key) => {
    const found = section(scope, key);
    return found ? [sectionPanel(found, actions ? { onName: actions.findInTimeline } : {})] : [];
  });

function stepsView(scope: Scope, actions: Actions): HTMLElement | null {
  const device = section(scope, 'steps', 'inferred_steps');
  const table = findTable(device);
  const panels: HTMLElement[] = [];
  if (device && table && table.rows.length > 0) {
    panels.push(sectionPanel(device, { tables: { [table.key]: { bar: '', rowClass: (row) => (isOutlier(table, row) ? 'outlier' : '') } } }, stepBars(table, 1000, 240, actions.showStep), legendOfPartition(scope)));
  }
  return view(...panels, ...plain(scope, ['slow_steps', 'step_times'], undefined));
}

function legendOfPartition(scope: Scope): HTMLElement | null {
  const whole = breakdownOfFigures(section(scope, 'all'));
  return whole ? h('div', { class: 'legend' }, whole.parts.map((part) => h('span', { class: 'entry' }, h('span', { class: 'swatch', style: { background: `var(--${part.shade})` } }), part.title))) : null;
}

function idleView(scope: Scope): HTMLElement | null {
  const idle = section(scope, 'idle_by_cause');
  if (!idle) return null;
  const causes = idleParts(idle);
  const total = causes.reduce((sum, part) => sum + part.value, 0);
  const bar = total > 0 ? h('div', { class: 'spaced-bar' }, stack(causes, total, 'Idle by cause', true), legend(causes, total)) : null;
  return view(sectionPanel(idle, { withoutFigures: causes.map((part) => part.key) }, bar));
}

function kernelsView(scope: Scope, actions: Actions): HTMLElement | null {
  const panels = ['kernels', 'kernels_by_short_name', 'short_kernels'].flatMap((key) => {
    const found = section(scope, key);
    if (!found) return [];
    const tables = Object.fromEntries(found.tables.map((table) => {
      const classColumn = columnIndex(table, 'class');
      return [table.key, { rows: key === 'kernels' ? 40 : 15, ...(classColumn >= 0 ? { onName: actions.findInTimeline, barShade: (row: Table['rows'][0]) => shadeOfClass(row[classColumn]) } : {}) }];
    }));
    const bins = found.tables.find((table) => columnIndex(table, 'from_ns') >= 0 && columnIndex(table, 'count') >= 0);
    return [sectionPanel(found, { tables }, bins && key !== 'kernels' ? histogram(binsOf(bins, 'count'), 'Kernels by duration') : null)];
  });
  return view(...panels);
}

const categories = ['gemm', 'attention', 'convolution', 'normalisation', 'elementwise', 'reduction', 'embedding', 'optimizer', 'loss', 'copy', 'memory', 'other', 'communication'];

function operatorsView(scope: Scope, actions: Actions): HTMLElement | null {
  const operators = section(scope, 'operators');
  const panels: HTMLElement[] = [];
  if (operators) {
    const table = findTable(operators, 'by_name') ?? operators.tables[0];
    let map: HTMLElement | null = null;
    if (table) {
      const name = columnIndex(table, 'name', 'operator'), time = columnIndex(table, 'device_own_ns', 'device_ns'), category = columnIndex(table, 'category'), calls = columnIndex(table, 'calls');
      if (name >= 0 && time >= 0) {
        const tiles: Tile[] = table.rows.map((row) => ({ name: String(row[name] ?? ''), value: typeof row[time] === 'number' ? (row[time] as number) : 0, group: category >= 0 ? String(row[category] ?? '') : '', detail: calls >= 0 ? `${String(row[calls])} calls` : '' }));
        if (tiles.some((tile) => tile.value > 0)) map = h('div', {}, treemap(tiles, categories, actions.findInTimeline), h('p', { class: 'note spaced' }, 'Area: device time of the kernels that each operator launched itself. Tint: category.'));
      }
    }
    panels.push(sectionPanel(operators, { onName: actions.findInTimeline, tables: { categories: { tools: false }, phases: { tools: false } } }, map));
  }
  const tree = section(scope, 'call_tree');
  if (tree) {
    const table = tree.tables[0];
    const drawn = table ? callTree(table, actions.findInTimeline) : null;
    panels.push(drawn && table ? sectionPanel(tree, { withoutTables: [table.key] }, drawn) : sectionPanel(tree));
  }
  return view(...panels, ...plain(scope, ['modules']));
}

function workView(scope: Scope): HTMLElement | null {
  const work = section(scope, 'work');
  const gpu = scope.device?.gpu ? scope.page.meta.gpus[scope.device.gpu] : undefined;
  return view(...plain(scope, ['mfu']), work ? sectionPanel(work, {}, roofline(work, gpu)) : null);
}

function launchesView(scope: Scope): HTMLElement | null {
  const launches = section(scope, 'launches');
  const table = findTable(launches, 'delay_histogram');
  const bins = table ? binsOf(table, 'launches') : [];
  const chart = bins.length > 0 ? h('div', {}, h('h3', { class: 'table-title' }, 'From the launching call to the start on the device'), histogram(bins, 'Launch delays', 'idle_launch')) : null;
  return view(launches ? sectionPanel(launches, { withoutTables: chart ? ['delay_histogram'] : [] }, chart) : null, ...plain(scope, ['queue']));
}

function memoryView(scope: Scope): HTMLElement | null {
  const found = section(scope, 'memory');
  if (!found) return null;
  const series = findTable(found, 'series');
  const charts = series ? memoryCharts(scope.page, series) : [];
  return view(h('section', { class: 'panel long', 'data-section': 'memory' }, headingOf(found), charts, sectionParts(found, { withoutTables: charts.length > 0 ? ['series'] : [] })));
}

const fixed: { view: View; takes: string[] }[] = [
  { view: { key: 'steps', title: 'Steps', render: stepsView }, takes: ['steps', 'inferred_steps', 'slow_steps', 'step_times'] },
  { view: { key: 'idle', title: 'Idle time', render: idleView }, takes: ['idle_by_cause'] },
  { view: { key: 'kernels', title: 'Kernels', render: kernelsView }, takes: ['kernels', 'kernels_by_short_name', 'short_kernels'] },
  { view: { key: 'operators', title: 'Operators', render: operatorsView }, takes: ['operators', 'call_tree', 'modules'] },
  { view: { key: 'work', title: 'Work', render: workView }, takes: ['work', 'mfu'] },
  { view: { key: 'launches', title: 'Launches', render: launchesView }, takes: ['launches', 'queue'] },
  { view: { key: 'transfers', title: 'Copies and waits', render: (scope) => view(...plain(scope, ['copies', 'synchronisations'])) }, takes: ['copies', 'synchronisations'] },
  { view: { key: 'collectives', title: 'Collectives', render: (scope) => view(...plain(scope, ['collectives'])) }, takes: ['collectives'] },
  { view: { key: 'memory', title: 'Memory', render: memoryView }, takes: ['memory'] },
];
const elsewhere = ['all', 'verdict', 'health'];   // shown on the overview, and on the page about the capture

export function viewsOf(scope: Scope): View[] {
  const sections = allSections(scope);
  const has = (key: string): boolean => sections.some((one) => one.key === key);
  const views = fixed.filter(({ takes }) => takes.some(has)).map(({ view: one }) => one);
  const taken = new Set([...fixed.flatMap(({ takes }) => takes), ...elsewhere]);
  const rest = sections.filter((one) => !taken.has(one.key)).sort((a, b) => a.prominence - b.prominence);
  for (const one of rest) views.push({ key: `section-${one.key}`, title: one.title, render: (now, actions) => genericView(section(now, one.key), actions) });
  return views;
}

function genericView(found: Section | undefined, actions: Actions): HTMLElement | null {
  return found ? view(sectionPanel(found, { onName: actions.findInTimeline })) : null;
}
