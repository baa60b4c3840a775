// How values are written for people: one formatter by unit, with the rules of the text report (src/report/format.h). Three significant digits, in the unit
// that fits.
import type { Unit, Value } from './data/document.ts';

export const absent = '–';
const narrow = '\u202f';   // between a number and its unit

type Steps = readonly (readonly [size: number, name: string])[];
const steps: Record<Unit, Steps> = {
  nanoseconds: [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']],
  bytes: [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'], [1, 'B']],
  memory_bytes: [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']],
  bytes_per_second: [[1e9, 'GB/s']],
  flops: [[1e15, 'PFLOP'], [1e12, 'TFLOP'], [1e9, 'GFLOP'], [1e6, 'MFLOP'], [1, 'FLOP']],
  flops_per_second: [[1e12, 'TFLOP/s']],
  flops_per_byte: [[1, 'FLOP/B']],
  none: [],
  count: [],
  ratio: [],
};

// The largest unit in which a number is at least 1 as it will be shown (999.6 µs is shown as 1.00 ms).
function stepFor(of: Steps, size: number): readonly [number, string] {
  return of.find(([step]) => size >= 0.9995 * step) ?? of[of.length - 1]!;
}

function decimalsFor(shown: number): number {
  const size = Math.abs(shown);
  return size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
}

// Thousands apart by commas, a true minus sign, and no negative zero.
function fixed(value: number, decimals: number): string {
  const text = Math.abs(value).toFixed(decimals);
  const [whole, rest] = text.split('.') as [string, string | undefined];
  const grouped = whole.includes('e') ? whole : whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return (value < 0 && Number(text) !== 0 ? '−' : '') + grouped + (rest ? `.${rest}` : '');
}

function withUnit(value: number, unit: Unit): string {
  const [size, name] = stepFor(steps[unit], Math.abs(value));
  const shown = value / size;
  return `${fixed(shown, size === 1 && Number.isInteger(shown) ? 0 : decimalsFor(shown))}${narrow}${name}`;
}

export function grouped(value: number): string { return fixed(value, Number.isInteger(value) ? 0 : decimalsFor(value)); }
export function duration(nanoseconds: number): string { return withUnit(nanoseconds, 'nanoseconds'); }

// "61.2 %"; a share that is there but too small to show says so.
export function percent(ratio: number): string {
  const value = 100 * ratio;
  return value > 0 && value < 0.05 ? `<0.1${narrow}%` : `${fixed(value, 1)}${narrow}%`;
}

// A time on the timeline, with as many digits as tell apart two points resolution ns from each other: "12.345678 ms".
export function timePoint(nanoseconds: number, resolution: number): string {
  const [size, name] = stepFor(steps.nanoseconds, Math.max(Math.abs(nanoseconds), 1));
  const decimals = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / Math.max(resolution, 1)) - 1e-9)));
  return `${fixed(nanoseconds / size, decimals)}${narrow}${name}`;
}

// A value that stands alone, with its unit.
export function format(value: Value | undefined, unit: Unit): string {
  if (value === null || value === undefined) return absent;
  if (typeof value === 'string') return visible(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (!Number.isFinite(value)) return absent;
  if (unit === 'ratio') return percent(value);
  if (unit === 'count') return grouped(value);
  if (unit === 'none') return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
  return withUnit(value, unit);
}

// How the cells of one column are written: all in one unit with the same decimals, so that the eye compares digits, not units. Where the values lie too far
// apart for that (the least would show as zeros) each cell has a unit of its own.
export class ColumnFormat {
  readonly unitName: string = '';   // for the column's header; "" where the cells say it or there is none
  readonly numeric: boolean;
  private readonly divisor: number = 1;
  private readonly decimals: number = 0;
  private readonly perCell: boolean = false;

  constructor(private readonly unit: Unit, values: readonly (Value | undefined)[]) {
    const numbers = values.filter((value): value is number => typeof value === 'number' && Number.isFinite(value));
    this.numeric = numbers.length > 0 && !values.some((value) => typeof value === 'string' || typeof value === 'boolean');
    let largest = 0, least = Infinity, whole = true;
    for (const number of numbers) {
      const size = Math.abs(number);
      largest = Math.max(largest, size);
      if (size > 0) least = Math.min(least, size);
      whole = whole && Number.isInteger(number);
    }
    const of = steps[unit];
    if (of.length === 0) {
      if (unit === 'count' && !whole) this.decimals = largest >= 99.95 ? 1 : 2;
      return;
    }
    const [size, name] = stepFor(of, largest);
    this.divisor = size;
    this.unitName = name;
    if (size === 1 && whole) return;
    let decimals = largest === 0 ? 0 : decimalsFor(largest / size);
    while (decimals < 3 && (least / size) * 10 ** decimals < 9.5 && Number.isFinite(least)) decimals++;
    this.decimals = decimals;
    this.perCell = of.length > 1 && Number.isFinite(least) && (least / size) * 10 ** decimals < 0.95;
    if (this.perCell) this.unitName = '';
  }

  cell(value: Value | undefined): string {
    if (typeof value !== 'number' || !Number.isFinite(value) || this.unit === 'none' || this.unit === 'ratio' || this.perCell) return format(value, this.unit);
    if (this.unit === 'count') return this.decimals === 0 ? grouped(value) : fixed(value, this.decimals);
    return fixed(value / this.divisor, this.decimals);
  }
}

// Marks that reorder text are shown as a dot: a name must read in the order in which it is stored.
export function visible(text: string): string {
  return text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '·');
}

// One cell of a CSV file (RFC 4180), the value as stored: times in ns, ratios as fractions. A text that a spreadsheet would run as a formula gets an
// apostrophe in front.
export function csvCell(value: Value | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
