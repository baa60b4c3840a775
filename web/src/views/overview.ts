// The first view: the verdict, then where the time went, then the shortest way to what matters next.
import { columnIndex, findTable, type Table, type Value } from '../data/document.ts';
import { h } from '../dom.ts';
import { duration, format, grouped, visible } from '../format.ts';
import { type Choice, type Scope, choiceTitle, choices, scopeOf, section } from '../scope.ts';
import { tableView } from '../table.ts';
import { legend, stack } from './bars.ts';
import { type Breakdown, breakdownOfFigures, idleParts, meanBreakdown } from './breakdown.ts';
import { caveatsOf } from './section.ts';
import { stepBars } from './stepbars.ts';

export interface OverviewLinks {
  open: (view: string) => void;
  choose: (choice: Choice) => void;
  chosen: Choice | undefined;
  findInTimeline: (name: string) => void;
  showStep: (step: number) => void;
  health: { level: 'good' | 'warn' | 'bad'; text: string };
}

const firstRows = (table: Table, keys: string[], rows: number, kept?: (row: Value[]) => boolean): Table => {
  const columns = keys.map((key) => columnIndex(table, key)).filter((i) => i >= 0);
  const chosen = (kept ? table.rows.filter(kept) : table.rows).slice(0, rows);
  return { ...table, columns: columns.map((i) => ({ ...table.columns[i]!, in_text: true })), rows: chosen.map((row) => columns.map((i) => row[i] ?? null)), rows_total: chosen.length };
};

export function shadeOfClass(text: unknown): string {
  return text === 'communication' || text === 'memory' ? text : 'compute';
}

// A number and its unit stay on one line.
const spaced = (text: string): string => visible(text).replace(/(\d) (?=[%µmn]|s\b)/g, '$1\u202f');

function bar(breakdown: Breakdown, label: string, tall: boolean): HTMLElement {
  return stack(breakdown.parts, breakdown.span, label, tall);
}

export function overview(scope: Scope, links: OverviewLinks): HTMLElement {
  const { page } = scope;
  const view = h('div', {});
  const meta = page.meta;
  const steps = findTable(section(scope, 'steps', 'inferred_steps'));
  const whole = breakdownOfFigures(section(scope, 'all'));
  const mean = steps ? meanBreakdown(steps) : undefined;
  const gpu = scope.device?.gpu_reported || (scope.device?.gpu ? page.meta.gpus[scope.device.gpu]?.title : undefined);
  const where = [
    scope.rank ? choiceTitle(page, links.chosen!) : '', gpu ? visible(gpu) : '', meta.ranks.length > 1 ? `${meta.ranks.length} ranks` : '',
    steps ? `${grouped(steps.rows_total)} ${steps.rows_total === 1 ? 'step' : 'steps'}` : '', `${grouped(meta.slices)} slices`,
  ].filter((text) => text !== '').join(' · ');
  view.append(h('section', { class: 'verdict', 'aria-label': 'Verdict' },
    h('h1', { class: 'sentence' }, spaced(page.verdict[0] ?? 'Nothing could be said about this capture.')),
    page.verdict.slice(1).map((sentence) => h('p', { class: 'further' }, spaced(sentence))),
    h('p', { class: 'where' }, h('a', { class: `badge ${links.health.level}`, href: '#health' }, links.health.text), where)));

  const shown = mean ?? whole;
  if (shown) {
    const title = mean ? `Where the time of a step goes` : 'Where the time went';
    const of = mean ? `mean of ${grouped(mean.steps)} ${mean.steady ? 'steady ' : ''}${mean.steps === 1 ? 'step' : 'steps'} on the device, ${duration(mean.span)}` : duration(shown.span);
    const panel = h('section', { class: 'panel', 'data-panel': 'breakdown' }, h('header', {}, h('h2', {}, title), h('span', { class: 'note' }, of)), bar(shown, title, true), legend(shown.parts, shown.span));
    if (mean && whole) {
      panel.append(h('h3', { class: 'table-title' }, `Whole capture, ${duration(whole.span)}`), bar(whole, 'Whole capture', false), legend(whole.parts, whole.span));
    }
    const all = choices(page);
    if (all.length > 1) {
      panel.append(h('h3', { class: 'table-title' }, 'All devices'), ...all.map((choice) => {
        const one = breakdownOfFigures(section(scopeOf(page, choice), 'all'));
        const current = choice.rank === links.chosen?.rank && choice.device === links.chosen?.device;
        const name = h('span', { class: 'name' }, choiceTitle(page, choice));
        return one ? h('button', { class: 'device-row', type: 'button', 'aria-current': current ? 'true' : null, onclick: () => links.choose(choice) }, name, bar(one, choiceTitle(page, choice), false),
          h('span', { class: 'value' }, duration(one.span))) : h('div', { class: 'device-row' }, name, h('span', { class: 'note' }, 'no device activity'), h('span', {}));
      }));
    }
    const caveats = section(scope, 'all');
    if (caveats) {
      const list = caveatsOf(caveats);
      if (list) panel.append(list);
    }
    view.append(panel);
  }

  const more = (name: string, text: string): HTMLElement => h('a', { class: 'more', href: `#${name}` }, text);
  const advice = findTable(section(scope, 'advice'), 'ranked');
  if (advice && advice.rows.length > 0) {
    view.append(h('section', { class: 'panel', 'data-panel': 'advice' }, h('header', {}, h('h2', {}, 'What to change first'), h('span', { class: 'note' }, 'saved per step, by replay, each on top of the ones above it'), more('section-advice', `All ${grouped(advice.rows_total)}`)),
      tableView(firstRows(advice, ['title', 'gain_ns', 'gain_share', 'confidence'], 5), { tools: false, compact: true }).element));
  }
  const tiles: HTMLElement[] = [];
  if (steps && steps.rows.length > 0) {
    tiles.push(h('section', { class: 'panel' }, h('header', {}, h('h2', {}, 'Steps'), more('steps', 'All steps')), stepBars(steps, 486, 150, links.showStep)));
  }
  const idle = section(scope, 'idle_by_cause');
  const causes = idleParts(idle);
  const idleTotal = causes.reduce((sum, part) => sum + part.value, 0);
  if (idle && idleTotal > 0) {
    tiles.push(h('section', { class: 'panel' }, h('header', {}, h('h2', {}, 'Idle, by cause'), h('span', { class: 'note' }, `${duration(idleTotal)} of the capture`), more('idle', 'Why')),
      stack(causes, idleTotal, 'Idle by cause', true), legend([...causes].sort((a, b) => b.value - a.value), idleTotal), idle.summary ? h('p', { class: 'note spaced' }, idle.summary) : null));
  }
  const kernels = findTable(section(scope, 'kernels'));
  if (kernels && kernels.rows.length > 0) {
    const classColumn = 1;
    tiles.push(h('section', { class: 'panel' }, h('header', {}, h('h2', {}, 'Kernels with most time'), more('kernels', `All ${grouped(kernels.rows_total)}`)),
      tableView(firstRows(kernels, ['short_name', 'class', 'count', 'total_ns', 'share'], 7), { tools: false, compact: true, hide: ['class'], onName: links.findInTimeline, barShade: (row) => shadeOfClass(row[classColumn]) }).element));
  }
  const operators = section(scope, 'operators');
  const categories = findTable(operators, 'categories') ?? findTable(operators, 'by_category');
  if (categories && categories.rows.length > 0) {
    const onDevice = categories.rows.some((row) => Number(row[columnIndex(categories, 'device_ns')] ?? 0) > 0);
    tiles.push(h('section', { class: 'panel' }, h('header', {}, h('h2', {}, 'Operators by category'), more('operators', 'Operators')),
      tableView(firstRows(categories, onDevice ? ['category', 'calls', 'device_ns', 'share'] : ['category', 'calls', 'cpu_own_ns'], 8), { tools: false, compact: true, ...(onDevice ? {} : { bar: 'cpu_own_ns' }) }).element));
  }
  for (let i = 0; i < tiles.length; i += 2) view.append(h('div', { class: tiles.length - i > 1 ? 'columns' : '' }, tiles.slice(i, i + 2)));
  view.append(h('p', { class: 'note' }, `${visible(meta.ranks.map((rank) => rank.file).slice(0, 4).join(', '))}${meta.ranks.length > 4 ? ` and ${meta.ranks.length - 4} more` : ''} · ${format(meta.bytes, 'bytes')} · ${grouped(meta.events)} events, read in ${meta.read_seconds.toFixed(2)} s, analysed in ${meta.analysis_seconds.toFixed(2)} s · Stepscope ${meta.version}`));
  return view;
}
