// Memory over time, one chart per device that reported it.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { MemoryCurve, PageDocument } from '../data/document.ts';
import { h } from '../dom.ts';
import { duration, format, grouped, timePoint } from '../format.ts';
import { colour, onThemeChange } from '../theme.ts';

const binarySteps = Array.from({ length: 50 }, (_, power) => 2 ** power);
const deviceTypes: Record<number, string> = { 0: 'CPU', 1: 'GPU' };

export function memoryTitle(curve: MemoryCurve): string {
  return `${deviceTypes[curve.device_type] ?? `Device type ${curve.device_type}`}${curve.device >= 0 ? ` ${curve.device}` : ''}`;
}

export function memoryChart(page: PageDocument, curve: MemoryCurve): HTMLElement {
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
        { label: curve.relative ? 'Change' : 'Allocated', stroke: colour('compute'), width: 1.5, fill: `${colour('compute')}22`, paths: uPlot.paths.stepped!({ align: 1 }), points: { show: false }, value: (_, value) => format(value, 'memory_bytes') },
        ...(hasReserved ? [{ label: 'Reserved', stroke: colour('communication'), width: 1.25, dash: [4, 3], paths: uPlot.paths.stepped!({ align: 1 }), points: { show: false }, value: (_: uPlot, value: number | null) => format(value, 'memory_bytes') } satisfies uPlot.Series] : []),
      ],
      legend: { live: true },
      cursor: { drag: { x: true, y: false } },
    }, data, holder);
  };
  new ResizeObserver(make).observe(holder);
  onThemeChange(make);
  const thinned = curve.events > curve.time.length ? ` ${grouped(curve.time.length)} of ${grouped(curve.events)} reports are drawn; peaks are kept.` : '';
  return h('div', {}, h('h3', { class: 'table-title' }, memoryTitle(curve)), holder,
    h('p', { class: 'note' }, `${curve.relative ? 'Totals were not reported: the change since the capture began. ' : ''}Drag to zoom, double-click to return.${thinned}`));
}
