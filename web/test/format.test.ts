// Every unit against a table of cases; the rules are those of the text report (tests/report/format_test.cpp).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Unit, Value } from '../src/data/document.ts';
import { ColumnFormat, csvCell, duration, format, grouped, percent, timePoint, visible } from '../src/format.ts';

const plain = (text: string): string => text.replaceAll('\u202f', ' ');

const cases: [Value, Unit, string][] = [
  [null, 'nanoseconds', '–'],
  [0, 'nanoseconds', '0 ns'],
  [17, 'nanoseconds', '17 ns'],
  [999, 'nanoseconds', '999 ns'],
  [1000, 'nanoseconds', '1.00 µs'],
  [1234, 'nanoseconds', '1.23 µs'],
  [12_345, 'nanoseconds', '12.3 µs'],
  [999_499, 'nanoseconds', '999 µs'],
  [999_600, 'nanoseconds', '1.00 ms'],
  [412_000_000, 'nanoseconds', '412 ms'],
  [61_500_000_000, 'nanoseconds', '61.5 s'],
  [-2500, 'nanoseconds', '−2.50 µs'],
  [1.5, 'nanoseconds', '1.50 ns'],
  [0, 'count', '0'],
  [999, 'count', '999'],
  [1234567, 'count', '1,234,567'],
  [12.34, 'count', '12.3'],
  [0, 'bytes', '0 B'],
  [999, 'bytes', '999 B'],
  [1_240_000_000, 'bytes', '1.24 GB'],
  [1024, 'memory_bytes', '1.00 KiB'],
  [85_899_345_920, 'memory_bytes', '80.0 GiB'],
  [2.04e12, 'bytes_per_second', '2,040 GB/s'],
  [12_300_000, 'bytes_per_second', '0.012 GB/s'],
  [2.5e9, 'flops', '2.50 GFLOP'],
  [3.1e14, 'flops_per_second', '310 TFLOP/s'],
  [4.5e10, 'flops_per_second', '0.045 TFLOP/s'],
  [61.27, 'flops_per_byte', '61.3 FLOP/B'],
  [0.6123, 'ratio', '61.2 %'],
  [0, 'ratio', '0.0 %'],
  [1, 'ratio', '100.0 %'],
  [0.0001, 'ratio', '<0.1 %'],
  [1.5, 'ratio', '150.0 %'],
  ['aten::mm', 'none', 'aten::mm'],
  [42, 'none', '42'],
  [0.12345, 'none', '0.1235'],
  [true, 'none', 'yes'],
  [NaN, 'count', '–'],
  [Infinity, 'nanoseconds', '–'],
];

test('a value by its unit', () => {
  for (const [value, unit, expected] of cases) assert.equal(plain(format(value, unit)), expected, `${String(value)} ${unit}`);
});

test('a column has one unit where its values are near each other, else one per cell', () => {
  const near = new ColumnFormat('nanoseconds', [412_000_000, 3_000_000, null]);
  assert.equal(near.unitName, 'ms');
  assert.deepEqual([412_000_000, 3_000_000, null].map((value) => plain(near.cell(value))), ['412.0', '3.0', '–']);
  const far = new ColumnFormat('nanoseconds', [412_000_000, 120]);
  assert.equal(far.unitName, '');
  assert.deepEqual([412_000_000, 120].map((value) => plain(far.cell(value))), ['412 ms', '120 ns']);
  const counts = new ColumnFormat('count', [1, 1.5]);
  assert.deepEqual([1, 1.5].map((value) => counts.cell(value)), ['1.00', '1.50']);
});

test('points in time have the digits that tell neighbours apart', () => {
  assert.equal(plain(timePoint(12_345_678, 1)), '12.345678 ms');
  assert.equal(plain(timePoint(12_345_678, 10_000)), '12.35 ms');
  assert.equal(plain(timePoint(0, 1000)), '0 ns');
});

test('parts', () => {
  assert.equal(grouped(-1234), '−1,234');
  assert.equal(plain(duration(1e9)), '1.00 s');
  assert.equal(plain(percent(0.005)), '0.5 %');
});

test('marks that reorder text are shown as dots', () => {
  assert.equal(visible('gemm\u202efdp.exe\u2066'), 'gemm·fdp.exe·');
  assert.equal(visible('Ünïcödé 汉字'), 'Ünïcödé 汉字');
});

test('CSV cells', () => {
  assert.equal(csvCell(null), '');
  assert.equal(csvCell(1.5), '1.5');
  assert.equal(csvCell('a,b'), '"a,b"');
  assert.equal(csvCell('say "x"'), '"say ""x"""');
  assert.equal(csvCell('two\nlines'), '"two\nlines"');
  assert.equal(csvCell('=1+1'), "'=1+1");
  assert.equal(csvCell('void f<int, float>()'), '"void f<int, float>()"');
});
