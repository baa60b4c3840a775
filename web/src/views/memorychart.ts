// Memory over time, one chart per device that reported it: from the section's table "series".
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { columnIndex, type PageDocument, type Table } from '../data/document.ts';
import { h } from '../dom.ts';
import { duration, format, timePoint, visible } from '../format.ts';
import { colour, onThemeChange } from '../theme.ts';

const binarySteps = Array.from({ length: 50 }, (_, power) => 2 ** power);

interface Curve { device: string; time: number[]; allocated: (number | null)[]; reserved: (number | null)[] }

function curvesOf(table: Table): Curve[] {
  const [device, time, allocated, reserved] = ['device', 'time_ns', 'allocated_bytes', 'reserved_bytes'].map((key) => columnIndex(table, key)) as [number, number, number, number];
  if (time < 0 || allocated < 0) return [];
  const curves = new Map<string, Curve>();
  const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
  for (const row of table.rows) {
    const name = device < 0 ? '' : String(row[device] ?? '');
    const curve = curves.get(name) ?? { device: name, time: [], allocated: [], reserved: [] };
    curves.set(name, curve);
    const at = number(row[time]);
    if (at === null) continue;
    curve.time.push(at);
    curve.allocated.push(number(row[allocated]));
    curve.reserved.push(reserved < 0 ? null : number(row[reserved]));
  }
  return [...curves.values()].filter((curve) => curve.time.length > 1);
}

export function memoryCharts(page: PageDocument, table: Table): HTMLElement[] { return curvesOf(table).map((curve) => memoryChart(page, curve)); }

function memoryChart(page: PageDocument, curve: Curve): HTMLElement {
  const holder = h('div', { class: 'memory-chart' });
  const begin = page.timeline.begin;
  const times = curve.time.map((time) => time - begin);
  const hasReserved = curve.reserved.some((value) => value !== null);
  const data = [times, curve.allocated, ...(hasReserved ? [curve.reserved] : [])] as uPlot.AlignedData;
  let plot: uPlot | null = null;
  const make = (): void => {
    const width = holder.clientWidth;
    if (width === 0) return;
    plot?.destroy();
    const axis: uPlot.Axis = { stroke: colour('quiet'), grid: { stroke: colour('line'), width: 1 }, ticks: { stroke: colour('line'), width: 1 }, font: '11px system-ui, sans-serif' };
    plot = new uPlot({
      width, height: 240,
      scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(low, 0), high * 1.05 || 1] } },
      axes: [
        { ...axis, values: (_, ticks) => ticks.map((tick) => (tick === 0 ? '0' : timePoint(tick, Math.abs((ticks[1] ?? 1) - (ticks[0] ?? 0))))) },
        { ...axis, size: 74, incrs: binarySteps, values: (_, ticks) => ticks.map((tick) => (tick === 0 ? '0' : format(tick, 'memory_bytes').replace(/\.0+(?=\D)/, ''))) },
      ],
      series: [
        { label: 'At', value: (_, value) => (value === null ? '–' : duration(value)) },
        { label: 'Allocated', stroke: colour('compute'), width: 1.5, fill: `${colour('compute')}22`, paths: uPlot.paths.stepped!({ align: 1 }), points: { show: false }, value: (_, value) => format(value, 'memory_bytes') },
        ...(hasReserved ? [{ label: 'Reserved', stroke: colour('communication'), width: 1.25, dash: [4, 3], paths: uPlot.paths.stepped!({ align: 1 }), points: { show: false }, value: (_: uPlot, value: number | null) => format(value, 'memory_bytes') } satisfies uPlot.Series] : []),
      ],
      legend: { live: true },
      cursor: { drag: { x: true, y: false } },
    }, data, holder);
  };
  new ResizeObserver(make).observe(holder);
  onThemeChange(make);
  return h('div', {}, h('h3', { class: 'table-title' }, visible(curve.device)), holder, h('p', { class: 'note' }, 'Peaks are kept where reports were thinned out. Drag to zoom, double-click to return.'));
}
