import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Section, type Table, parseDocument } from '../src/data/document.ts';
import { matcher } from '../src/timeline/search.ts';
import { breakdownOfFigures, isOutlier, meanBreakdown } from '../src/views/breakdown.ts';
import { binTitle, binsOf } from '../src/views/histogram.ts';
import { niceScale } from '../src/views/stepbars.ts';
import { squarify } from '../src/views/treemap.ts';

const plain = (text: string): string => text.replaceAll('\u202f', ' ');
const column = (key: string, unit: 'nanoseconds' | 'count' | 'none' = 'nanoseconds') => ({ key, title: key, unit, in_text: true });

test('shared texts come back into cells, figures and labels', () => {
  const page = parseDocument(JSON.stringify({
    schema: 'stepscope.page/1', meta: {}, verdict: [], strings: ['a long kernel name', 'another'],
    sections: [{ key: 's', title: 'S', summary: '', prominence: 1, caveats: [], figures: [{ key: 'f', title: 'F', unit: 'none', value: [1] }], tables: [{ key: 't', title: 'T', columns: [], rows_total: 1, rows: [[[0], 1, null]] }] }],
    findings: { sections: [], ranks: [{ rank: 0, file: '', sections: [0], devices: [] }] },
    timeline: { labels: [[0], 'short'] },
  }));
  assert.deepEqual(page.findings.ranks[0]!.sections[0]!.tables[0]!.rows, [['a long kernel name', 1, null]]);
  assert.equal(page.findings.ranks[0]!.sections[0]!.figures[0]!.value, 'another');
  assert.deepEqual(page.timeline.labels, ['a long kernel name', 'short']);
  assert.throws(() => parseDocument('{"schema": "stepscope.page/9"}'), /cannot read/);
});

test('the mean step leaves outliers out', () => {
  const table: Table = { key: 'steps', title: '', rows_total: 3, columns: [column('step', 'none'), column('span_ns'), column('compute_ns'), column('exposed_communication_ns'), column('exposed_memory_ns'), column('idle_ns'), column('outlier', 'none')],
    rows: [[0, 900, 100, 0, 0, 800, true], [1, 100, 60, 20, 5, 15, false], [2, 120, 80, 20, 5, 15, false]] };
  const mean = meanBreakdown(table)!;
  assert.equal(mean.steps, 2);
  assert.equal(mean.span, 110);
  assert.deepEqual(mean.parts.map((part) => part.value), [70, 20, 5, 15]);
  assert.equal(isOutlier(table, table.rows[0]!), true);
  const only = meanBreakdown({ ...table, rows: [table.rows[0]!] })!;
  assert.equal(only.steady, false);
  assert.equal(only.span, 900);
});

test('a breakdown needs a span', () => {
  const section: Section = { key: 'all', title: '', summary: '', prominence: 0, tables: [], caveats: [], figures: [{ key: 'compute_ns', title: '', unit: 'nanoseconds', value: 5 }] };
  assert.equal(breakdownOfFigures(section), undefined);
  assert.equal(breakdownOfFigures(undefined), undefined);
});

test('tiles fill their box in proportion', () => {
  const boxes = squarify([6, 6, 4, 3, 2, 2, 1], { x: 0, y: 0, width: 600, height: 400 });
  const areas = boxes.map((box) => box.width * box.height);
  assert.ok(Math.abs(areas.reduce((a, b) => a + b, 0) - 240_000) < 1e-6);
  areas.forEach((area, i) => assert.ok(Math.abs(area - [6, 6, 4, 3, 2, 2, 1][i]! * 10_000) < 1e-6));
  for (const box of boxes) {
    assert.ok(box.x > -1e-9 && box.y > -1e-9 && box.x + box.width < 600 + 1e-9 && box.y + box.height < 400 + 1e-9);
    assert.ok(Math.max(box.width / box.height, box.height / box.width) < 4);
  }
  assert.deepEqual(squarify([0, 0], { x: 0, y: 0, width: 10, height: 10 }).length, 2);
});

test('ticks are round and reach the largest value', () => {
  assert.deepEqual(niceScale(10, 4).ticks, [0, 2.5, 5, 7.5, 10]);
  assert.equal(niceScale(1, 4).top, 1);
  assert.ok(niceScale(412e6, 4).top >= 412e6);
});

test('bins', () => {
  const table: Table = { key: 'h', title: '', rows_total: 3, columns: [column('from_ns'), column('to_ns'), column('launches', 'count')], rows: [[null, 0, 3], [0, 2000, 5], [2000, null, 1]] };
  const bins = binsOf(table, 'launches');
  assert.deepEqual(bins.map((bin) => plain(binTitle(bin))), ['below 0 ns', '0 to 2.00 µs', '2.00 µs and more']);
  assert.deepEqual(binsOf(table, 'count'), []);
});

test('search by text and by expression', () => {
  const by = (text: string): ((name: string) => boolean) => {
    const found = matcher(text);
    assert.ok(typeof found === 'function');
    return found;
  };
  assert.equal(matcher(''), null);
  assert.ok(by('GEMM')('sm80_gemm_f16'));
  assert.ok(!by('gemm')('reduce'));
  assert.ok(by('/^aten::(mm|bmm)$/')('aten::bmm'));
  assert.ok(!by('/^aten::(mm|bmm)$/')('aten::addmm'));
  assert.ok(matcher('/(/') instanceof Error);
  assert.ok(by('(')('f(x)'));
});
