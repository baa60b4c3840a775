// The critical path over the rows: a band at the foot of each row along which it runs, dashed where it waits, and lines where it changes rows.
import type { CriticalPathFrame } from '../data/document.ts';

export interface PathRow { y: number; height: number }   // in the canvas's pixels

interface Scale { xAt: (time: number) => number; left: number; right: number; rowOf: (track: number) => PathRow | undefined }

const band = 3;

// Draws the part of a path that is in sight; returns how many stretches that were.
export function drawPath(context: CanvasRenderingContext2D, path: CriticalPathFrame, colour: string, { xAt, left, right, rowOf }: Scale): number {
  let drawn = 0;
  let before: { y: number; end: number } | null = null;   // where the path was last
  context.strokeStyle = colour;
  for (const [track, begin, end, waits] of path.stretches) {
    const row = rowOf(track);
    if (!row) continue;   // folded away: the path goes on at the next row that is there
    const y = row.y + row.height - band / 2 - 1;
    const x0 = xAt(begin), x1 = xAt(end);
    const from = before;
    before = { y, end };
    if (x1 < left || x0 > right) continue;
    if (from && from.y !== y && x0 >= left) {
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(Math.max(xAt(from.end), left), from.y);
      context.lineTo(x0, y);
      context.stroke();
    }
    context.lineWidth = band;
    context.setLineDash(waits ? [4, 3] : []);
    context.beginPath();
    context.moveTo(Math.max(x0, left), y);
    context.lineTo(Math.min(Math.max(x1, x0 + 1), right), y);
    context.stroke();
    context.setLineDash([]);
    drawn++;
  }
  return drawn;
}
