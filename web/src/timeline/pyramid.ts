// Coarser and coarser summaries of each lane: node j of level k stands for the 16^k items from j·16^k on. Items of a lane are in order and do not overlap, so
// a node's time is known from its first and last item; only its sums are kept. Drawing and asking about a stretch of time visit few nodes at any zoom.
import { type Items, type Lane, noItem } from '../data/items.ts';

export const arity = 16;

interface Level {
  firstNode: Uint32Array;   // per lane
  nodes: Uint32Array;       // per lane
  busy: Float64Array;
  count: Float64Array;      // slices
  longest: Uint32Array;     // the item with the longest slice
  shade: Uint8Array;        // the one with most busy time
}

export interface Summary { count: number; busy: number; longest: number; items: number }

export class Pyramid {
  readonly levels: Level[] = [];
  constructor(readonly items: Items, readonly shadeOfLabel: Uint8Array, shades: number) {
    const lanes = items.lanes;
    let largest = 0;
    for (const lane of lanes) largest = Math.max(largest, lane.count);
    const weights = new Float64Array(shades);
    for (let level = 1; arity ** level < largest * arity && largest > 1; level++) {
      const width = arity ** level;
      const firstNode = new Uint32Array(lanes.length), nodes = new Uint32Array(lanes.length);
      let total = 0;
      lanes.forEach((lane, l) => {
        firstNode[l] = total;
        nodes[l] = Math.ceil(lane.count / width);
        total += nodes[l]!;
      });
      const made: Level = { firstNode, nodes, busy: new Float64Array(total), count: new Float64Array(total), longest: new Uint32Array(total), shade: new Uint8Array(total) };
      for (let l = 0; l < lanes.length; l++) {
        const children = this.nodeCount(level - 1, l);
        for (let node = 0; node < nodes[l]!; node++) {
          const at = firstNode[l]! + node;
          weights.fill(0);
          let longest = noItem, longestTime = -1;
          for (let child = node * arity; child < Math.min((node + 1) * arity, children); child++) {
            const busy = this.busy(level - 1, l, child);
            made.busy[at]! += busy;
            made.count[at]! += this.count(level - 1, l, child);
            weights[this.shade(level - 1, l, child)]! += busy + 1e-3;
            const candidate = this.longest(level - 1, l, child);
            const time = this.longestTime(candidate);
            if (time > longestTime) {
              longestTime = time;
              longest = candidate;
            }
          }
          made.longest[at] = longest;
          let best = 0;
          for (let shade = 1; shade < shades; shade++) if (weights[shade]! > weights[best]!) best = shade;
          made.shade[at] = best;
        }
      }
      this.levels.push(made);
    }
  }

  // Duration of an item's slice, of a block's longest one.
  longestTime(item: number): number {
    const block = this.items.block[item]!;
    return block < 0 ? this.items.end[item]! - this.items.start[item]! : this.items.blocks.longest[block]!;
  }

  nodeCount(level: number, lane: number): number {
    return level === 0 ? this.items.lanes[lane]!.count : this.levels[level - 1]!.nodes[lane]!;
  }
  busy(level: number, lane: number, node: number): number {
    if (level > 0) return this.levels[level - 1]!.busy[this.levels[level - 1]!.firstNode[lane]! + node]!;
    const item = this.items.lanes[lane]!.first + node;
    const block = this.items.block[item]!;
    return block < 0 ? this.items.end[item]! - this.items.start[item]! : this.items.blocks.busy[block]!;
  }
  count(level: number, lane: number, node: number): number {
    if (level > 0) return this.levels[level - 1]!.count[this.levels[level - 1]!.firstNode[lane]! + node]!;
    const block = this.items.block[this.items.lanes[lane]!.first + node]!;
    return block < 0 ? 1 : this.items.blocks.count[block]!;
  }
  longest(level: number, lane: number, node: number): number {
    return level > 0 ? this.levels[level - 1]!.longest[this.levels[level - 1]!.firstNode[lane]! + node]! : this.items.lanes[lane]!.first + node;
  }
  shade(level: number, lane: number, node: number): number {
    if (level > 0) return this.levels[level - 1]!.shade[this.levels[level - 1]!.firstNode[lane]! + node]!;
    const item = this.items.lanes[lane]!.first + node;
    const block = this.items.block[item]!;
    return block < 0 ? this.shadeOfLabel[this.items.label[item]!]! : this.items.blocks.shade[block]!;
  }

  topLevel(lane: number): number {
    let level = 0;
    while (level < this.levels.length && this.nodeCount(level, lane) > arity) level++;
    return level;
  }

  // Visits what a drawing at scale pixels per ns needs of [from, to]: items at least one pixel wide, and nodes (or items) narrower than that.
  visit(laneNumber: number, from: number, to: number, scale: number, draw: (level: number, node: number, start: number, end: number) => void): void {
    const lane = this.items.lanes[laneNumber]!;
    if (lane.count === 0) return;
    const top = this.topLevel(laneNumber);
    const nodes = this.nodeCount(top, laneNumber);
    for (let node = 0; node < nodes; node++) this.descend(lane, laneNumber, top, node, from, to, scale, draw);
  }

  private descend(
    lane: Lane, laneNumber: number, level: number, node: number, from: number, to: number, scale: number,
    draw: (level: number, node: number, start: number, end: number) => void,
  ): void {
    const width = arity ** level;
    const first = lane.first + node * width;
    const last = Math.min(first + width, lane.first + lane.count) - 1;
    const start = this.items.start[first]!, end = this.items.end[last]!;
    if (end < from || start > to) return;
    if (level === 0 || (end - start) * scale < 1) {
      draw(level, node, start, end);
      return;
    }
    const lastChild = Math.min((node + 1) * arity, this.nodeCount(level - 1, laneNumber));
    for (let child = node * arity; child < lastChild; child++) this.descend(lane, laneNumber, level - 1, child, from, to, scale, draw);
  }

  // What a lane holds in [from, to): items that begin in it or reach into it.
  summary(laneNumber: number, from: number, to: number): Summary {
    const result: Summary = { count: 0, busy: 0, longest: noItem, items: 0 };
    let longestTime = -1;
    this.visit(laneNumber, from, to, 1 / Math.max(to - from, 1), (level, node) => {
      const width = arity ** level;
      const lane = this.items.lanes[laneNumber]!;
      const first = lane.first + node * width, end = Math.min(first + width, lane.first + lane.count);
      for (let item = first; item < end; item++) {
        if (this.items.end[item]! < from || this.items.start[item]! >= to) continue;
        const block = this.items.block[item]!;
        result.items++;
        result.count += block < 0 ? 1 : this.items.blocks.count[block]!;
        result.busy += block < 0 ? this.items.end[item]! - this.items.start[item]! : this.items.blocks.busy[block]!;
        const time = this.longestTime(item);
        if (time > longestTime) {
          longestTime = time;
          result.longest = item;
        }
      }
    });
    return result;
  }
}
