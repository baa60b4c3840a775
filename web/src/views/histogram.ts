// A histogram from a table whose rows are bins: from, to, and how many.
import { columnIndex, type Table } from '../data/document.ts';
import { h, svg } from '../dom.ts';
import { duration, grouped, percent } from '../format.ts';
import { hideTip, showTip } from '../tip.ts';
import { niceScale } from './stepbars.ts';

export interface Bin { from: number | null; to: number | null; count: number }

export function binsOf(table: Table, countKey: string): Bin[] {
  const from = columnIndex(table, 'from_ns', 'from'), to = columnIndex(table, 'to_ns', 'below_ns', 'to'), count = columnIndex(table, countKey);
  if (from < 0 || to < 0 || count < 0) return [];
  const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
  return table.rows.map((row) => ({ from: number(row[from]), to: number(row[to]), count: number(row[count]) ?? 0 }));
}

export function binTitle(bin: Bin): string {
  if (bin.to === null) return `${bin.from === null ? 'all' : `${duration(bin.from)} and more`}`;
  return bin.from === null ? `below ${duration(bin.to)}` : `${bin.from === 0 ? '0' : duration(bin.from)} to ${duration(bin.to)}`;
}

export function histogram(bins: Bin[], what: string, shade = 'compute', height = 190): HTMLElement {
  const width = 1000, left = 64, bottom = 24, top = 8;
  const total = bins.reduce((sum, bin) => sum + bin.count, 0);
  const scale = niceScale(Math.max(...bins.map((bin) => bin.count), 1), 4);
  const y = (value: number): number => top + (height - top - bottom) * (1 - value / scale.top);
  const slot = (width - left) / bins.length;
  const chart = svg('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${what}: ${bins.map((bin) => `${binTitle(bin)}: ${grouped(bin.count)}`).join('; ')}` });
  for (const tick of scale.ticks) {
    if (!Number.isInteger(tick)) continue;
    chart.append(svg('line', { class: 'grid', x1: left, x2: width, y1: y(tick), y2: y(tick) }), svg('text', { x: left - 8, y: y(tick) + 4, 'text-anchor': 'end' }, grouped(tick)));
  }
  bins.forEach((bin, i) => {
    const x = left + slot * i;
    const bar = svg('rect', { x: x + 1, y: y(bin.count), width: Math.max(slot - 2, 1), height: Math.max(y(0) - y(bin.count), bin.count > 0 ? 1 : 0), fill: `var(--${shade})`, rx: 2 });
    const target = svg('rect', { x, y: top, width: slot, height: height - top - bottom, fill: 'transparent' });
    target.addEventListener('mousemove', (event) => showTip(event.clientX, event.clientY, [h('b', {}, binTitle(bin)), h('div', {}, `${grouped(bin.count)} · ${percent(total > 0 ? bin.count / total : 0)}`)]));
    target.addEventListener('mouseleave', hideTip);
    // The boundary at the left of each bin.
    const every = Math.ceil(bins.length / 14);
    const label = bin.from === null ? '' : bin.from === 0 ? '0' : duration(bin.from);
    chart.append(bar, target);
    if (i % every === 0 && label) chart.append(svg('text', { x: x, y: height - 6, 'text-anchor': i === 0 ? 'start' : 'middle' }, label));
  });
  chart.append(svg('line', { class: 'axis', x1: left, x2: width, y1: y(0), y2: y(0) }));
  return h('div', {}, chart);
}
