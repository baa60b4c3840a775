// How values are written for people: one formatter by unit. Three significant digits, in the unit that fits; the rules are those of the text report.
import type { Unit, Value } from './data/document.ts';

export const absent = '–';
const narrow = '\u202f';   // between a number and its unit

// Three significant digits, no trailing exponent: 412, 41.2, 4.12, 0.412, 0.0412.
export function threeDigits(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 999.5) return grouped(Math.round(value));
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  if (size >= 0.9995) return value.toFixed(2);
  if (size >= 1e-6) return String(Number(value.toPrecision(3)));
  return value.toExponential(1);
}

// 1,234,567
export function grouped(value: number): string {
  const text = String(Math.abs(Math.trunc(value)));
  const withCommas = text.includes('e') ? text : text.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return (value < 0 ? '−' : '') + withCommas;
}

const scaled = (value: number, steps: [number, string][], base: string): string => {
  const size = Math.abs(value);
  for (const [factor, name] of steps) {
    if (size >= 0.9995 * factor) return `${threeDigits(value / factor)}${narrow}${name}`;
  }
  return `${Number.isInteger(value) ? grouped(value) : threeDigits(value)}${narrow}${base}`;
};

export function duration(nanoseconds: number): string {
  return scaled(nanoseconds, [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']], 'ns');
}

// A time on the timeline, with as many digits as tell apart two points resolution ns from each other: "12.345 678 ms".
export function timePoint(nanoseconds: number, resolution: number): string {
  const size = Math.abs(nanoseconds);
  const [factor, name] = size >= 1e9 ? [1e9, 's'] : size >= 1e6 ? [1e6, 'ms'] : size >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10((factor as number) / Math.max(resolution, 1)) - 1e-9)));
  return `${(nanoseconds / (factor as number)).toFixed(digits)}${narrow}${name}`;
}

export function percent(ratio: number): string {
  const value = ratio * 100;
  const size = Math.abs(value);
  if (size === 0) return `0${narrow}%`;
  if (size < 0.01) return `<${narrow}0.01${narrow}%`;
  if (size >= 999.5) return `${grouped(Math.round(value))}${narrow}%`;
  return `${size >= 99.95 ? value.toFixed(0) : size >= 9.995 ? value.toFixed(1) : value.toFixed(2)}${narrow}%`;
}

export function format(value: Value | undefined, unit: Unit): string {
  if (value === null || value === undefined) return absent;
  if (typeof value === 'string') return visible(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  switch (unit) {
    case 'nanoseconds': return duration(value);
    case 'count': return Number.isInteger(value) ? grouped(value) : threeDigits(value);
    case 'bytes': return scaled(value, [[1e15, 'PB'], [1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB']], 'B');
    case 'memory_bytes': return scaled(value, [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']], 'B');
    case 'bytes_per_second': return `${threeDigits(value / 1e9)}${narrow}GB/s`;
    case 'flops': return `${threeDigits(value / 1e9)}${narrow}GFLOP`;
    case 'flops_per_second': return `${threeDigits(value / 1e12)}${narrow}TFLOP/s`;
    case 'flops_per_byte': return `${threeDigits(value)}${narrow}FLOP/B`;
    case 'ratio': return percent(value);
    case 'none': return Number.isInteger(value) ? String(value) : threeDigits(value);
  }
}

// Marks that reorder text are shown as a dot: a name must read in the order in which it is stored.
export function visible(text: string): string {
  return text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '·');
}

// One cell of a CSV file (RFC 4180), the value as stored: times in ns, ratios as fractions. A text that a spreadsheet would run as a formula is quoted with
// an apostrophe.
export function csvCell(value: Value | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
