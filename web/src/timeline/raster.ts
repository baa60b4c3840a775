// A lane as one row of pixels. Every pixel shows the share of its time that is covered, in the covering shades' mixed colour; so a stretch of a million slices
// is as quick and as true to draw as one slice.
import type { Pyramid } from './pyramid.ts';

export type Rgb = [number, number, number];

export function parseColour(text: string): Rgb {
  const hex = /^#([0-9a-f]{6})$/i.exec(text.trim());
  if (hex) {
    const value = parseInt(hex[1]!, 16);
    return [value >> 16, (value >> 8) & 255, value & 255];
  }
  const parts = /rgba?\(([^)]+)\)/.exec(text)?.[1]?.split(/[\s,/]+/).map(Number) ?? [];
  return [parts[0] ?? 128, parts[1] ?? 128, parts[2] ?? 128];
}

export class Raster {
  private red = new Float32Array(0);
  private green = new Float32Array(0);
  private blue = new Float32Array(0);
  private cover = new Float32Array(0);
  private width = 0;

  // Fills row (one 32-bit RGBA pixel each) with the lane between from and to. Shades' colours by number; paper shows where nothing is.
  drawLane(pyramid: Pyramid, lane: number, from: number, to: number, row: Uint32Array, colours: Rgb[], paper: Rgb): void {
    const width = row.length;
    if (this.width !== width) {
      this.width = width;
      this.red = new Float32Array(width);
      this.green = new Float32Array(width);
      this.blue = new Float32Array(width);
      this.cover = new Float32Array(width);
    } else {
      this.red.fill(0);
      this.green.fill(0);
      this.blue.fill(0);
      this.cover.fill(0);
    }
    const scale = width / (to - from);
    pyramid.visit(lane, from, to, scale, (level, node, start, end) => {
      const left = (start - from) * scale;
      let right = (end - from) * scale;
      const single = level === 0 && pyramid.items.block[pyramid.items.lanes[lane]!.first + node]! < 0;
      const weight = single || end <= start ? 1 : pyramid.busy(level, lane, node) / (end - start);
      // Neighbours that are wide enough are set apart by a hair.
      if (single && right - left >= 4) right -= 1;
      this.add(left, right, weight, colours[pyramid.shade(level, lane, node)]!);
    });
    for (let x = 0; x < width; x++) {
      const cover = this.cover[x]!;
      if (cover === 0) {
        row[x] = pixel(paper[0], paper[1], paper[2]);
        continue;
      }
      // Something must be seen of the smallest slice.
      const alpha = Math.max(Math.min(cover, 1), 0.22);
      row[x] = pixel(
        paper[0] + (this.red[x]! / cover - paper[0]) * alpha,
        paper[1] + (this.green[x]! / cover - paper[1]) * alpha,
        paper[2] + (this.blue[x]! / cover - paper[2]) * alpha,
      );
    }
  }

  private add(left: number, right: number, weight: number, colour: Rgb): void {
    const first = Math.max(Math.floor(left), 0);
    const last = Math.min(Math.max(Math.ceil(right) - 1, Math.floor(left)), this.width - 1);
    for (let x = first; x <= last; x++) {
      const share = Math.max(Math.min(right, x + 1) - Math.max(left, x), 1e-3) * weight;
      this.cover[x]! += share;
      this.red[x]! += colour[0] * share;
      this.green[x]! += colour[1] * share;
      this.blue[x]! += colour[2] * share;
    }
  }
}

// Little-endian RGBA, as ImageData holds it.
export function pixel(red: number, green: number, blue: number): number {
  return ((255 << 24) | ((blue & 255) << 16) | ((green & 255) << 8) | (red & 255)) >>> 0;
}
