import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeItems, enclosing, itemAt, lastStartingBy, noItem } from '../src/data/items.ts';
import { encode } from './fixture.ts';

const shades = ['compute', 'operation', 'runtime_call'];
const { frame, bytes } = encode([
  { frame: { kind: 'thread', rank: 0, process: '1', thread: '1' }, lanes: [
    [{ start: 1000, end: 9000, label: 0, detail: 0 }, { start: 9000, end: 9500, label: 0 }],
    [{ start: 2000, end: 3000, label: 1 }, { start: 4000, end: 8000, label: 1, block: { count: 300, busy: 2500, longest: 40, shade: 2 } }],
  ] },
  { frame: { kind: 'stream', rank: 0, device: '0', stream: 7 }, lanes: [
    [{ start: 2500, end: 6000, label: 2, launch: 2, detail: 1 }, { start: 6000, end: 2 ** 40, label: 2, detail: 1 }, { start: 2 ** 40 + 5, end: 2 ** 40 + 6, label: 2, launch: 2, operation: 0 }],
  ] },
], ['aten::mm', 'cudaLaunchKernel', 'gemm'], shades, [1, 2, 0], ['Input Dims\t[[2,2]]', 'grid\t[1,1,1]']);

test('columns come back as they were written', () => {
  const items = decodeItems(bytes, frame);
  assert.equal(items.count, 7);
  assert.deepEqual([...items.start], [1000, 9000, 2000, 4000, 2500, 6000, 2 ** 40 + 5]);
  assert.deepEqual([...items.end], [9000, 9500, 3000, 8000, 6000, 2 ** 40, 2 ** 40 + 6]);
  assert.deepEqual([...items.label], [0, 0, 1, 1, 2, 2, 2]);
  assert.deepEqual([...items.block], [-1, -1, -1, 0, -1, -1, -1]);
  assert.deepEqual([...items.detail], [0, -1, -1, -1, 1, 1, -1]);
  assert.deepEqual([...items.launch], [noItem, noItem, noItem, noItem, 2, noItem, 2]);
  assert.deepEqual([...items.operation], [noItem, noItem, noItem, noItem, noItem, noItem, 0]);
  assert.deepEqual([items.blocks.count[0], items.blocks.busy[0], items.blocks.longest[0], items.blocks.shade[0]], [300, 2500, 40, 2]);
  assert.deepEqual(items.lanesOfTrack, [[0, 1], [2]]);
});

test('a cut column is an error, not a wrong picture', () => {
  assert.throws(() => decodeItems(bytes.slice(0, bytes.length - 2), frame), /cut off/);
});

test('items by time', () => {
  const items = decodeItems(bytes, frame);
  const lane = items.lanes[0]!;
  assert.equal(itemAt(items, lane, 999), noItem);
  assert.equal(itemAt(items, lane, 1000), 0);
  assert.equal(itemAt(items, lane, 8999), 0);
  assert.equal(itemAt(items, lane, 9000), 1);
  assert.equal(itemAt(items, lane, 9500), noItem);
  assert.equal(lastStartingBy(items, lane, 1e9), 1);
  assert.equal(enclosing(items, 2), 0);
  assert.equal(enclosing(items, 0), noItem);
});
