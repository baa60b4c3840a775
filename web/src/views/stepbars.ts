// One stacked bar per step: what of it was compute, exposed communication, exposed copies, idle. Outliers are paler; the dashed line is the median.
import { columnIndex, type Table, type Value } from '../data/document.ts';
import { h, svg } from '../dom.ts';
import { duration, percent } from '../format.ts';
import { hideTip, showTip } from '../tip.ts';
import { type Breakdown, breakdownOfRow, isOutlier } from './breakdown.ts';

const most_bars = 400;

interface Bar { title: string; breakdown: Breakdown; outlier: boolean; rows: Value[][] }

function barsOf(table: Table): { bars: Bar[]; perBar: number } {
  const perBar = Math.ceil(table.rows.length / most_bars);
  const stepColumn = columnIndex(table, 'step');
  const bars: Bar[] = [];
  for (let first = 0; first < table.rows.length; first += perBar) {
    const rows = table.rows.slice(first, first + perBar);
    const all = rows.map((row) => breakdownOfRow(table, row)).filter((one) => one !== undefined);
    if (all.length === 0) continue;
    const mean = (of: (one: Breakdown) => number): number => all.reduce((sum, one) => sum + of(one), 0) / all.length;
    const breakdown = { span: mean((one) => one.span), parts: all[0]!.parts.map((part, i) => ({ ...part, value: mean((one) => one.parts[i]!.value) })) };
    const numbers = rows.map((row) => String(row[stepColumn] ?? ''));
    bars.push({ title: numbers.length > 1 ? `Steps ${numbers[0]}–${numbers[numbers.length - 1]}, mean` : `Step ${numbers[0]}`, breakdown, outlier: rows.some((row) => isOutlier(table, row)), rows });
  }
  return { bars, perBar };
}

export function stepBars(table: Table, width: number, height: number, onStep?: (step: number) => void): HTMLElement {
  const { bars, perBar } = barsOf(table);
  const left = 64, bottom = 22, top = 8;
  const largest = Math.max(...bars.map((bar) => bar.breakdown.span), 1);
  const scale = niceScale(largest, 4);
  const y = (value: number): number => top + (height - top - bottom) * (1 - value / scale.top);
  const slot = (width - left) / bars.length;
  const barWidth = Math.min(Math.max(slot * 0.78, Math.min(slot, 1)), 56);
  // Where all are outliers (one step, or two) none is pale.
  if (bars.every((bar) => bar.outlier)) for (const bar of bars) bar.outlier = false;
  const steady = bars.filter((bar) => !bar.outlier).map((bar) => bar.breakdown.span).sort((a, b) => a - b);
  const median = steady.length > 0 ? steady[Math.floor((steady.length - 1) / 2)]! : null;
  const chart = svg('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `Device time of ${table.rows.length} steps` });
  for (const tick of scale.ticks) {
    chart.append(svg('line', { class: 'grid', x1: left, x2: width, y1: y(tick), y2: y(tick) }), svg('text', { x: left - 8, y: y(tick) + 4, 'text-anchor': 'end' }, tick === 0 ? '0' : duration(tick)));
  }
  const stepColumn = columnIndex(table, 'step');
  const every = Math.ceil(bars.length / (width / 50));
  bars.forEach((bar, i) => {
    const x = left + slot * i + (slot - barWidth) / 2;
    const group = svg('g', { class: 'step', opacity: bar.outlier ? 0.5 : 1 });
    let at = 0;
    for (const part of bar.breakdown.parts) {
      if (part.value <= 0) continue;
      group.append(svg('rect', { x, y: y(at + part.value), width: barWidth, height: Math.max(y(at) - y(at + part.value), 0), fill: `var(--${part.shade})` }));
      at += part.value;
    }
    // A target as high as the chart: short bars are as easy to hit as tall ones.
    const target = svg('rect', { x: left + slot * i, y: top, width: slot, height: height - top - bottom, fill: 'transparent' });
    target.addEventListener('mousemove', (event) => showTip(event.clientX, event.clientY, [
      h('b', {}, bar.title), bar.outlier ? h('span', { class: 'quiet' }, ' (first, last or outlying: left out of means)') : '', h('div', {}, duration(bar.breakdown.span)),
      ...bar.breakdown.parts.map((part) => h('div', { class: 'quiet' }, h('span', { class: 'swatch', style: { background: `var(--${part.shade})` } }), ` ${part.title} ${duration(part.value)} · ${percent(part.value / (bar.breakdown.span || 1))}`)),
    ]));
    target.addEventListener('mouseleave', hideTip);
    const step = bar.rows[0]![stepColumn];
    if (onStep && typeof step === 'number') {
      target.style.cursor = 'pointer';
      target.addEventListener('click', () => onStep(step));
    }
    group.append(target);
    chart.append(group);
    if (i % every === 0) chart.append(svg('text', { x: left + slot * (i + 0.5), y: height - 6, 'text-anchor': 'middle' }, String(step ?? '')));
  });
  chart.append(svg('line', { class: 'axis', x1: left, x2: width, y1: y(0), y2: y(0) }));
  if (median !== null && bars.length > 2) {
    chart.append(svg('line', { x1: left, x2: width, y1: y(median), y2: y(median), stroke: 'var(--ink)', 'stroke-width': 1, 'stroke-dasharray': '4 4', opacity: 0.6 }));
  }
  const note = [median !== null && bars.length > 2 ? `dashed: median of the ${perBar > 1 ? 'bars' : 'steps'} that are not pale, ${duration(median)}` : '', bars.some((bar) => bar.outlier) ? 'pale: first, last and outlying steps, left out of means' : '',
    perBar > 1 ? `each bar is the mean of ${perBar} steps` : ''].filter((text) => text !== '').join('; ');
  return h('div', {}, chart, note ? h('p', { class: 'note' }, `${note[0]!.toUpperCase()}${note.slice(1)}.`) : null);
}

// Round ticks from 0 to at least largest.
export function niceScale(largest: number, wanted: number): { top: number; ticks: number[] } {
  const rough = largest / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough * 0.999) ?? power * 10;
  const count = Math.ceil(largest / step - 1e-9);
  return { top: count * step, ticks: Array.from({ length: count + 1 }, (_, i) => i * step) };
}
