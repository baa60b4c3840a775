// The timeline's items as columns, read from the bytes that src/report/timeline_columns.h describes.
import type { TimelineFrame, TrackFrame } from './document.ts';

export const noItem = 0xffffffff;

export interface Lane { track: number; depth: number; first: number; count: number; slices: number; busy: number }

export interface Items {
  count: number;
  start: Float64Array;
  end: Float64Array;
  label: Uint32Array;
  block: Int32Array;         // -1 = a single slice
  detail: Int32Array;        // -1 = none
  launch: Uint32Array;       // noItem = none
  operation: Uint32Array;    // noItem = the one that encloses the launch
  lane: Uint32Array;
  blocks: { count: Uint32Array; busy: Float64Array; longest: Float64Array; shade: Uint8Array };
  lanes: Lane[];
  lanesOfTrack: number[][];
}

class Numbers {
  private at: number;
  private readonly bytes: Uint8Array;
  readonly end: number;
  constructor(bytes: Uint8Array, begin: number, length: number) {
    this.bytes = bytes;
    this.at = begin;
    this.end = begin + length;
    if (this.end > bytes.length) throw new Error('The timeline of this report is cut off');
  }
  next(): number {
    const bytes = this.bytes;
    let byte = bytes[this.at++]!;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let factor = 0x80;
    do {
      byte = bytes[this.at++]!;
      value += (byte & 0x7f) * factor;
      factor *= 0x80;
    } while (byte >= 0x80);
    return value;
  }
}

class References {
  private last = 0;
  constructor(private readonly numbers: Numbers) {}
  next(): number {
    const code = this.numbers.next();
    if (code === 0) return noItem;
    const zigzag = code - 1;
    this.last += zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
    return this.last;
  }
}

export function decodeItems(bytes: Uint8Array, frame: TimelineFrame): Items {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const column = (): Numbers => {
    const length = view.getUint32(at, true);
    const numbers = new Numbers(bytes, at + 4, length);
    at = numbers.end;
    return numbers;
  };
  const gaps = column(), durations = column(), labels = column(), runs = column(), blocks = column(), details = column();
  const launches = new References(column()), operations = new References(column());

  const lanes: Lane[] = [];
  const lanesOfTrack: number[][] = [];
  let count = 0;
  frame.tracks.forEach((track: TrackFrame, number) => {
    lanesOfTrack.push(track.lanes.map((_, depth) => lanes.length + depth));
    track.lanes.forEach(([items, slices, busy], depth) => {
      lanes.push({ track: number, depth, first: count, count: items, slices, busy });
      count += items;
    });
  });

  const items: Items = {
    count,
    start: new Float64Array(count),
    end: new Float64Array(count),
    label: new Uint32Array(count),
    block: new Int32Array(count).fill(-1),
    detail: new Int32Array(count).fill(-1),
    launch: new Uint32Array(count).fill(noItem),
    operation: new Uint32Array(count).fill(noItem),
    lane: new Uint32Array(count),
    blocks: { count: new Uint32Array(0), busy: new Float64Array(0), longest: new Float64Array(0), shade: new Uint8Array(0) },
    lanes,
    lanesOfTrack,
  };
  const blockRows: number[] = [];
  const lastDetail = new Int32Array(frame.labels.length).fill(-1);
  let left = runs.next();
  let inBlocks = false;
  for (let l = 0; l < lanes.length; l++) {
    const lane = lanes[l]!;
    const linked = frame.tracks[lane.track]!.kind === 'stream';
    let previousEnd = frame.begin;
    for (let item = lane.first; item < lane.first + lane.count; item++) {
      const start = previousEnd + gaps.next();
      previousEnd = start + durations.next();
      const label = labels.next();
      items.start[item] = start;
      items.end[item] = previousEnd;
      items.label[item] = label;
      items.lane[item] = l;
      while (left === 0) {
        left = runs.next();
        inBlocks = !inBlocks;
      }
      left--;
      if (inBlocks) {
        items.block[item] = blockRows.length / 4;
        blockRows.push(blocks.next(), blocks.next(), blocks.next(), blocks.next());
        continue;
      }
      const code = details.next();
      if (code !== 0) lastDetail[label] = code - 2;
      items.detail[item] = Math.max(lastDetail[label]!, -1);
      if (linked) {
        items.launch[item] = launches.next();
        items.operation[item] = operations.next();
      }
    }
  }
  const rows = blockRows.length / 4;
  items.blocks = { count: new Uint32Array(rows), busy: new Float64Array(rows), longest: new Float64Array(rows), shade: new Uint8Array(rows) };
  for (let row = 0; row < rows; row++) {
    items.blocks.count[row] = blockRows[4 * row]!;
    items.blocks.busy[row] = blockRows[4 * row + 1]!;
    items.blocks.longest[row] = blockRows[4 * row + 2]!;
    items.blocks.shade[row] = blockRows[4 * row + 3]!;
  }
  return items;
}

// The item of a lane that covers this time; noItem where it is free. Items of a lane do not overlap.
export function itemAt(items: Items, lane: Lane, time: number): number {
  const at = lastStartingBy(items, lane, time);
  return at !== noItem && (items.end[at]! > time || items.start[at] === time) ? at : noItem;
}

// The last item of a lane that starts at or before this time; noItem where there is none.
export function lastStartingBy(items: Items, lane: Lane, time: number): number {
  let low = lane.first, high = lane.first + lane.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (items.start[middle]! <= time) low = middle + 1;
    else high = middle;
  }
  return low === lane.first ? noItem : low - 1;
}

// The item that encloses this one on its thread: the nearest lane above that has one; noItem at the top, or where it was merged into a block.
export function enclosing(items: Items, item: number): number {
  const lane = items.lanes[items.lane[item]!]!;
  const lanes = items.lanesOfTrack[lane.track]!;
  for (let depth = lane.depth - 1; depth >= 0; depth--) {
    const above = items.lanes[lanes[depth]!]!;
    const at = lastStartingBy(items, above, items.start[item]!);
    if (at !== noItem && items.end[at]! >= items.end[item]!) return items.block[at]! < 0 ? at : noItem;
  }
  return noItem;
}
