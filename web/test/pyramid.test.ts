// The pyramid's summaries against a walk over all items.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeItems } from '../src/data/items.ts';
import { Pyramid } from '../src/timeline/pyramid.ts';
import { Raster, parseColour } from '../src/timeline/raster.ts';
import { type FixtureItem, encode } from './fixture.ts';

function random(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

function many(count: number): FixtureItem[] {
  const next = random(7);
  const lane: FixtureItem[] = [];
  let time = 100;
  for (let i = 0; i < count; i++) {
    const start = time + Math.floor(next() * 50);
    const end = start + Math.floor(next() ** 6 * 3000);
    const label = Math.floor(next() * 3);
    lane.push(i % 17 === 0 && end > start ? { start, end, label, block: { count: 5, busy: Math.floor((end - start) / 2), longest: Math.floor((end - start) / 4), shade: label } } : { start, end, label });
    time = end;
  }
  return lane;
}

const lane = many(10_000);
const { frame, bytes } = encode([{ frame: { kind: 'stream', rank: 0, device: '0', stream: 7 }, lanes: [lane] }], ['a', 'b', 'c'], ['compute', 'communication', 'memory'], [0, 1, 2]);
const items = decodeItems(bytes, frame);
const pyramid = new Pyramid(items, Uint8Array.from(frame.label_shades), 3);

test('every level has the same sums', () => {
  const busy = lane.reduce((sum, item) => sum + (item.block ? item.block.busy : item.end - item.start), 0);
  const count = lane.reduce((sum, item) => sum + (item.block?.count ?? 1), 0);
  assert.ok(pyramid.levels.length >= 3);
  for (let level = 0; level <= pyramid.levels.length; level++) {
    let levelBusy = 0, levelCount = 0;
    for (let node = 0; node < pyramid.nodeCount(level, 0); node++) {
      levelBusy += pyramid.busy(level, 0, node);
      levelCount += pyramid.count(level, 0, node);
    }
    assert.equal(levelBusy, busy);
    assert.equal(levelCount, count);
  }
});

test('a visit covers each item of the stretch once and few nodes', () => {
  for (const [from, to] of [[frame.begin, frame.end], [frame.begin + (frame.end - frame.begin) / 3, frame.begin + (frame.end - frame.begin) / 2], [5000, 5400]] as const) {
    const seen = new Uint8Array(items.count);
    let nodes = 0;
    pyramid.visit(0, from, to, 1000 / (to - from), (level, node) => {
      nodes++;
      for (let item = node * 16 ** level; item < Math.min((node + 1) * 16 ** level, items.count); item++) seen[item]!++;
    });
    for (let item = 0; item < items.count; item++) {
      const inside = items.end[item]! >= from && items.start[item]! <= to;
      assert.ok(seen[item]! <= 1);
      if (inside) assert.equal(seen[item], 1);
    }
    assert.ok(nodes < 1000 * 16, `${nodes} nodes`);
  }
});

test('a summary counts what a walk counts', () => {
  const next = random(3);
  for (let i = 0; i < 50; i++) {
    const from = frame.begin + Math.floor(next() * (frame.end - frame.begin)), to = from + Math.ceil(next() * 20_000);
    const inside = lane.filter((item) => item.end >= from && item.start < to);
    const summary = pyramid.summary(0, from, to);
    assert.equal(summary.items, inside.length);
    assert.equal(summary.count, inside.reduce((sum, item) => sum + (item.block?.count ?? 1), 0));
  }
});

test('a row of pixels shows the covered share of each pixel', () => {
  const simple = encode([{ frame: { kind: 'stream', rank: 0, device: '0', stream: 7 }, lanes: [[{ start: 0, end: 100, label: 0 }, { start: 150, end: 200, label: 1 }, { start: 300, end: 301, label: 1 }]] }],
    ['a', 'b'], ['compute', 'communication'], [0, 1]);
  const simpleItems = decodeItems(simple.bytes, simple.frame);
  const row = new Uint32Array(4);
  new Raster().drawLane(new Pyramid(simpleItems, Uint8Array.from([0, 1]), 2), 0, 0, 400, row, [[255, 0, 0], [0, 255, 0]], [255, 255, 255]);
  const channels = (value: number): number[] => [value & 255, (value >> 8) & 255, (value >> 16) & 255];
  assert.deepEqual(channels(row[0]!), [255, 0, 0]);
  assert.deepEqual(channels(row[1]!), [127, 255, 127]);
  assert.deepEqual(channels(row[2]!), [255, 255, 255]);
  assert.ok(channels(row[3]!)[0]! < 220, 'the smallest slice is seen');
});

test('colours', () => {
  assert.deepEqual(parseColour('#3b76d9'), [0x3b, 0x76, 0xd9]);
  assert.deepEqual(parseColour('rgb(1, 2, 3)'), [1, 2, 3]);
});
