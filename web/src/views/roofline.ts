// Roofline: what each operator reached (FLOP/s) over how much it computes per byte it must move, below what the GPU could do. Both axes logarithmic; areas of
// the points are shares of device time.
import { columnIndex, type GpuPeaks, type Section, type Table, type Value } from '../data/document.ts';
import { h, svg } from '../dom.ts';
import { duration, format, percent, visible } from '../format.ts';
import { hideTip, showTip } from '../tip.ts';

interface Point { name: string; detail: string; intensity: number; rate: number; time: number; share: number | null; type: string; bound: string }

function pointsOf(table: Table): Point[] {
  const byUnit = (unit: string, ...keys: string[]): number => {
    const named = columnIndex(table, ...keys);
    return named >= 0 ? named : table.columns.findIndex((column) => column.unit === unit);
  };
  const intensity = byUnit('flops_per_byte', 'intensity'), rate = byUnit('flops_per_second', 'achieved_flops_per_s', 'flops_per_s');
  const time = columnIndex(table, 'device_ns', 'kernel_ns', 'total_ns', 'time_ns', 'device_total_ns');
  if (intensity < 0 || rate < 0) return [];
  const name = table.columns.findIndex((column, i) => column.unit === 'none' && table.rows.some((row) => typeof row[i] === 'string'));
  const shape = columnIndex(table, 'description', 'shape', 'shapes', 'what'), type = columnIndex(table, 'type', 'dtype', 'data_type'), share = columnIndex(table, 'efficiency'), bound = columnIndex(table, 'bound_by');
  const text = (row: Value[], i: number): string => (i >= 0 && typeof row[i] === 'string' ? (row[i] as string) : '');
  return table.rows.flatMap((row) => {
    const x = row[intensity], y = row[rate];
    if (typeof x !== 'number' || typeof y !== 'number' || x <= 0 || y <= 0) return [];
    const t = time >= 0 && typeof row[time] === 'number' ? (row[time] as number) : 0;
    return [{ name: text(row, name), detail: text(row, shape), intensity: x, rate: y, time: t, type: text(row, type), share: share >= 0 && typeof row[share] === 'number' ? (row[share] as number) : null, bound: text(row, bound) }];
  });
}

const superscript = (power: number): string => String(power).replace(/[-\d]/g, (c) => (c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(c)]!));

export function roofline(section: Section, gpu: GpuPeaks | undefined): HTMLElement | null {
  const points = section.tables.map(pointsOf).sort((a, b) => b.length - a.length)[0] ?? [];
  if (points.length === 0) return null;
  points.sort((a, b) => b.time - a.time);
  // Points that carry next to no time do not stretch the axes; those that then lie outside are counted.
  const total = points.reduce((sum, point) => sum + point.time, 0);
  const heavy = points.filter((point) => total === 0 || point.time >= total * 1e-3);
  const decade = (values: number[], round: (value: number) => number, pick: (...values: number[]) => number): number => round(Math.log10(pick(...values)));
  const least = { x: decade(heavy.map((point) => point.intensity), Math.floor, Math.min), y: decade(heavy.map((point) => point.rate), Math.floor, Math.min) };
  const inside = points.filter((point) => point.intensity >= 10 ** least.x && point.rate >= 10 ** least.y);
  const shown = inside.slice(0, 300);
  const bandwidth = gpu?.memory_bytes_per_second;
  const used = new Set(shown.map((point) => point.type.toLowerCase()).filter((type) => type !== ''));
  const named = ['fp8', 'fp16', 'bf16', 'tf32', 'fp32', 'fp64'].filter((key) => typeof gpu?.[key] === 'number' && (used.size === 0 || used.has(key) || (key === 'tf32' && used.has('fp32'))));
  // Types of the same rate share a ceiling.
  const ceilings = new Map<number, string[]>();
  for (const key of named) ceilings.set(gpu![key] as number, [...(ceilings.get(gpu![key] as number) ?? []), key.toUpperCase()]);
  const width = 1000, height = 380, left = 76, bottom = 40, right = 16, top = 12;
  const xs = shown.map((point) => point.intensity), ys = [...shown.map((point) => point.rate), ...ceilings.keys()];
  const ridge = bandwidth && ceilings.size > 0 ? Math.max(...ceilings.keys()) / bandwidth : null;
  const x0 = least.x, x1 = Math.ceil(Math.log10(Math.max(...xs, (ridge ?? 1) * 2)));
  const y0 = least.y, y1 = Math.log10(Math.max(...ys)) + 0.4;
  const x = (value: number): number => left + ((Math.log10(value) - x0) / (x1 - x0 || 1)) * (width - left - right);
  const y = (value: number): number => top + (1 - (Math.log10(value) - y0) / (y1 - y0 || 1)) * (height - top - bottom);
  const chart = svg('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `Roofline of ${shown.length} operators` });
  for (let power = x0; power <= x1; power++) {
    chart.append(svg('line', { class: 'grid', x1: x(10 ** power), x2: x(10 ** power), y1: top, y2: height - bottom }),
      svg('text', { x: x(10 ** power), y: height - bottom + 16, 'text-anchor': 'middle' }, power >= -2 && power <= 4 ? String(10 ** power) : `10${superscript(power)}`));
  }
  for (let power = y0; power <= y1; power++) {
    chart.append(svg('line', { class: 'grid', x1: left, x2: width - right, y1: y(10 ** power), y2: y(10 ** power) }),
      svg('text', { x: left - 8, y: y(10 ** power) + 4, 'text-anchor': 'end' }, format(10 ** power, 'flops').replace('FLOP', 'FLOP/s')));
  }
  chart.append(svg('text', { x: (left + width - right) / 2, y: height - 4, 'text-anchor': 'middle' }, 'FLOP per byte that must be moved'));
  // Names of the ceilings stand left of the roof's edge, where no point can be.
  let lastY = Infinity;
  for (const [rate, names] of [...ceilings].sort((a, b) => a[0] - b[0])) {
    const from = bandwidth ? Math.max(rate / bandwidth, 10 ** x0) : 10 ** x0;
    lastY = Math.min(y(rate) + 4, lastY - 14);
    chart.append(svg('line', { x1: x(from), x2: width - right, y1: y(rate), y2: y(rate), stroke: 'var(--ink)', 'stroke-width': 1.25 }),
      bandwidth ? svg('text', { class: 'strong', x: x(from) - 10, y: lastY, 'text-anchor': 'end' }, `${names.join(', ')} ${format(rate, 'flops_per_second')}`)
        : svg('text', { class: 'strong', x: left + 8, y: y(rate) - 5 }, `${names.join(', ')} ${format(rate, 'flops_per_second')}`));
  }
  if (bandwidth) {
    const end = ceilings.size > 0 ? Math.max(...ceilings.keys()) / bandwidth : 10 ** x1;
    const begin = Math.max(10 ** x0, 10 ** y0 / bandwidth);
    if (begin < end) {
      chart.append(svg('line', { x1: x(begin), x2: x(end), y1: y(begin * bandwidth), y2: y(end * bandwidth), stroke: 'var(--memory)', 'stroke-width': 1.5 }));
      const middle = 10 ** ((Math.log10(begin) + Math.log10(end)) / 2);
      const slope = (Math.atan2(y(end * bandwidth) - y(begin * bandwidth), x(end) - x(begin)) * 180) / Math.PI;
      chart.append(svg('text', { class: 'strong', x: x(middle), y: y(middle * bandwidth) - 8, 'text-anchor': 'middle', transform: `rotate(${slope.toFixed(1)} ${x(middle).toFixed(1)} ${(y(middle * bandwidth) - 8).toFixed(1)})` }, `memory ${format(bandwidth, 'bytes_per_second')}`));
    }
  }
  const most = Math.max(...shown.map((point) => point.time), 1);
  for (const point of shown) {
    const bound = point.bound === 'memory' ? 'memory' : 'compute';
    const circle = svg('circle', { cx: x(point.intensity), cy: y(point.rate), r: 3 + 11 * Math.sqrt(point.time / most), fill: `var(--${bound})`, 'fill-opacity': 0.5, stroke: `var(--${bound})` });
    circle.addEventListener('mousemove', (event) => showTip(event.clientX, event.clientY, [
      h('b', {}, visible(point.name)), point.detail ? h('div', { class: 'quiet' }, visible(point.detail)) : '',
      h('div', {}, `${format(point.rate, 'flops_per_second')} at ${format(point.intensity, 'flops_per_byte')}`),
      h('div', { class: 'quiet' }, [point.time > 0 ? duration(point.time) : '', point.type, point.share !== null ? `${percent(point.share)} of its bound` : ''].filter(Boolean).join(' · ')),
    ]));
    circle.addEventListener('mouseleave', hideTip);
    chart.append(circle);
  }
  const about = gpu ? `Ceilings of ${gpu.title}, dense.` : 'The GPU is not known, so there are no ceilings: name it with --gpu.';
  return h('div', {}, chart, h('p', { class: 'note' }, `${about} Area: device time.${points.length > shown.length ? ` ${shown.length} of ${points.length} are drawn; the others take next to no time.` : ''}`));
}
