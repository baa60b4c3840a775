// Draws the timeline: a map of the whole capture, a ruler, and the rows that are in sight, for a stretch of time [from, to].
import type { PageDocument } from '../data/document.ts';
import { type Items, lastStartingBy, noItem } from '../data/items.ts';
import { duration, timePoint, visible } from '../format.ts';
import { colour } from '../theme.ts';
import { shadeTitle } from './facts.ts';
import { drawPath } from './path.ts';
import { Pyramid } from './pyramid.ts';
import { type Rgb, Raster, parseColour, pixel } from './raster.ts';
import type { Row } from './rows.ts';

export const gutter = 196, mapHeight = 30, rulerHeight = 24, scrollbar = 14;
export const rowsTop = mapHeight + rulerHeight;

export interface Sight {
  from: number;
  to: number;
  scroll: number;          // pixels of rows above the sight
  rows: Row[];
  selected: number;        // item; noItem = none
  hovered: number;
  matches: Uint32Array | null;   // items found by the search, ascending; null = no search
  range: [number, number] | null;  // a stretch being marked
  path: boolean;           // whether the critical path is drawn
}

const font = (size: number, weight = 400): string => `${weight} ${size}px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif`;

interface Ink { paper: Rgb; ground: string; ink: string; quiet: string; faint: string; line: string; lineStrong: string; accent: string; accentGround: string; mark: string; path: string; markRgb: Rgb; shades: Rgb[]; onShade: string[] }

// Black or white, whichever reads better on a colour.
function readableOn([red, green, blue]: Rgb): string {
  return red * 0.299 + green * 0.587 + blue * 0.114 > 150 ? '#11161c' : '#ffffff';
}

export class TimelineCanvas {
  private readonly context: CanvasRenderingContext2D;
  private readonly raster = new Raster();
  private ink!: Ink;
  private image: ImageData | null = null;
  private readonly widths = new Map<string, number>();
  private mapCache: { image: ImageData; key: string } | null = null;
  width = 0;
  height = 0;
  pathDrawn = 0;   // stretches of critical paths in the last drawing
  private density = 1;

  constructor(readonly canvas: HTMLCanvasElement, readonly page: PageDocument, readonly items: Items, readonly pyramid: Pyramid) {
    this.context = canvas.getContext('2d', { alpha: false })!;
    this.readColours();
  }

  readColours(): void {
    const shades = this.page.timeline.shades.map((name) => parseColour(colour(name)));
    this.ink = {
      paper: parseColour(colour('paper')),
      ground: colour('ground'), ink: colour('ink'), quiet: colour('quiet'), faint: colour('faint'), line: colour('line'), lineStrong: colour('line-strong'),
      accent: colour('accent'), accentGround: colour('accent-ground'), mark: colour('mark'), path: colour('critical-path'), markRgb: parseColour(colour('mark')), shades, onShade: shades.map(readableOn),
    };
    this.mapCache = null;
  }

  resize(): boolean {
    const box = this.canvas.getBoundingClientRect();
    const density = Math.min(devicePixelRatio || 1, 2);
    if (box.width === 0 || box.height === 0) return false;
    if (box.width === this.width && box.height === this.height && density === this.density) return true;
    this.width = box.width;
    this.height = box.height;
    this.density = density;
    this.canvas.width = Math.round(box.width * density);
    this.canvas.height = Math.round(box.height * density);
    this.image = null;
    this.mapCache = null;
    return true;
  }

  get plotWidth(): number { return Math.max(this.width - gutter - scrollbar, 10); }
  timeAt(x: number, sight: Sight): number { return sight.from + ((x - gutter) / this.plotWidth) * (sight.to - sight.from); }
  xAt(time: number, sight: Sight): number { return gutter + ((time - sight.from) / (sight.to - sight.from)) * this.plotWidth; }

  // The ruler's ticks in sight, as times since the capture began.
  private ticks(sight: Sight): { step: number; times: number[] } {
    const rough = ((sight.to - sight.from) / this.plotWidth) * 110;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max([1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? power * 10, 1);
    const origin = this.page.timeline.begin;
    const times: number[] = [];
    for (let tick = Math.ceil((sight.from - origin) / step) * step; tick <= sight.to - origin; tick += step) times.push(tick);
    return { step, times };
  }

  draw(sight: Sight, mapLanes: number[]): void {
    this.drawPixels(sight);
    this.drawMap(sight, mapLanes);
    this.drawRuler(sight);
    this.drawRows(sight);
  }

  // Pixels of the rows in sight, all lanes at once.
  private drawPixels(sight: Sight): void {
    const { density } = this;
    const left = Math.round(gutter * density), top = Math.round(rowsTop * density);
    const width = Math.round(this.plotWidth * density), height = Math.max(this.canvas.height - top, 1);
    if (!this.image || this.image.width !== width || this.image.height !== height) this.image = new ImageData(width, height);
    const pixels = new Uint32Array(this.image.data.buffer);
    const paper = this.ink.paper;
    const blank = pixel(paper[0], paper[1], paper[2]);
    // The grid shows only where nothing is.
    const grid = this.ticks(sight).times.map((tick) => Math.round(((tick + this.page.timeline.begin - sight.from) / (sight.to - sight.from)) * width)).filter((x) => x >= 0 && x < width);
    const gridPixel = pixel(...parseColour(this.ink.line));
    const empty = new Uint32Array(width).fill(blank);
    for (const x of grid) empty[x] = gridPixel;
    for (let y = 0; y < height; y++) pixels.set(empty, y * width);
    const line = new Uint32Array(width);
    const dimmed = sight.matches !== null;
    const colours = dimmed ? this.ink.shades.map((shade) => [0, 1, 2].map((i) => paper[i]! + (shade[i]! - paper[i]!) * 0.3) as Rgb) : this.ink.shades;
    for (const row of sight.rows) {
      if (row.kind !== 'lane') continue;
      const y0 = Math.round((row.y - sight.scroll) * density), y1 = Math.round((row.y - sight.scroll + row.height - 1) * density);
      if (y1 <= 0 || y0 >= height) continue;
      this.raster.drawLane(this.pyramid, row.lane, sight.from, sight.to, line, colours, paper);
      if (dimmed) this.markMatches(row.lane, sight, line);
      for (const x of grid) if (line[x] === blank) line[x] = gridPixel;
      for (let y = Math.max(y0, 0); y < Math.min(y1, height); y++) pixels.set(line, y * width);
    }
    const context = this.context;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = `rgb(${paper.join(' ')})`;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    context.putImageData(this.image, left, top);
    context.setTransform(density, 0, 0, density, 0, 0);
  }

  private markMatches(laneNumber: number, sight: Sight, line: Uint32Array): void {
    const lane = this.items.lanes[laneNumber]!;
    const matches = sight.matches!;
    const scale = line.length / (sight.to - sight.from);
    let low = 0, high = matches.length;
    const begin = Math.max(lane.first, this.firstEndingAfter(laneNumber, sight.from));
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (matches[middle]! < begin) low = middle + 1;
      else high = middle;
    }
    const end = lane.first + lane.count;
    for (let m = low; m < matches.length && matches[m]! < end; m++) {
      const item = matches[m]!;
      if (this.items.start[item]! > sight.to) break;
      const shade = this.ink.shades[this.pyramid.shadeOfLabel[this.items.label[item]!]!]!;
      const left = Math.max(Math.floor((this.items.start[item]! - sight.from) * scale), 0);
      const right = Math.min(Math.max(Math.ceil((this.items.end[item]! - sight.from) * scale), left + 1), line.length);
      // Narrow ones in the mark's colour, so that they are found; wide ones in their own.
      const chosen = right - left < 6 ? this.ink.markRgb : shade;
      line.fill(pixel(chosen[0], chosen[1], chosen[2]), left, right);
    }
  }

  private firstEndingAfter(laneNumber: number, time: number): number {
    const lane = this.items.lanes[laneNumber]!;
    const before = lastStartingBy(this.items, lane, time);
    return before === noItem ? lane.first : before;
  }

  // The whole capture's device activity, with the sight as a frame on it.
  private drawMap(sight: Sight, lanes: number[]): void {
    const { context, density, page } = this;
    const width = Math.round(this.plotWidth * density), height = Math.round((mapHeight - 8) * density);
    const key = `${width}/${height}/${lanes.join()}`;
    if (this.mapCache?.key !== key) {
      const image = new ImageData(width, Math.max(height, 1));
      const pixels = new Uint32Array(image.data.buffer);
      const paper = this.ink.paper;
      pixels.fill(pixel(paper[0], paper[1], paper[2]));
      const line = new Uint32Array(width);
      const shown = lanes.slice(0, 8);
      shown.forEach((lane, i) => {
        this.raster.drawLane(this.pyramid, lane, page.timeline.begin, page.timeline.end, line, this.ink.shades, paper);
        const y0 = Math.round((i * height) / shown.length), y1 = Math.round(((i + 1) * height) / shown.length) - (shown.length > 1 ? 1 : 0);
        for (let y = y0; y < Math.max(y1, y0 + 1); y++) pixels.set(line, Math.min(y, height - 1) * width);
      });
      this.mapCache = { image, key };
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(this.mapCache.image, Math.round(gutter * density), Math.round(4 * density));
    context.setTransform(density, 0, 0, density, 0, 0);
    const span = page.timeline.end - page.timeline.begin || 1;
    const x0 = gutter + (Math.max(sight.from - page.timeline.begin, 0) / span) * this.plotWidth;
    const x1 = gutter + (Math.min(sight.to - page.timeline.begin, span) / span) * this.plotWidth;
    const paper = this.ink.paper;
    context.fillStyle = `rgb(${paper.join(' ')} / 62%)`;
    context.fillRect(gutter, 4, x0 - gutter, mapHeight - 8);
    context.fillRect(x1, 4, gutter + this.plotWidth - x1, mapHeight - 8);
    context.strokeStyle = this.ink.accent;
    context.lineWidth = 1;
    context.strokeRect(Math.round(x0) + 0.5, 3.5, Math.max(Math.round(x1 - x0) - 1, 3), mapHeight - 7);
    context.fillStyle = this.ink.quiet;
    context.font = font(11.5);
    context.textBaseline = 'middle';
    context.textAlign = 'left';
    context.fillText('Whole capture', 10, mapHeight / 2);
  }

  private drawRuler(sight: Sight): void {
    const { context } = this;
    const span = sight.to - sight.from;
    const { step, times } = this.ticks(sight);
    const y = mapHeight + rulerHeight;
    context.font = font(11.5);
    context.textBaseline = 'middle';
    context.fillStyle = this.ink.quiet;
    context.strokeStyle = this.ink.line;
    context.lineWidth = 1;
    context.beginPath();
    const origin = this.page.timeline.begin;
    for (const tick of times) {
      const x = Math.round(this.xAt(tick + origin, sight)) + 0.5;
      if (x < gutter) continue;
      context.moveTo(x, y - 6);
      context.lineTo(x, y);
      const text = tick === 0 ? '0' : timePoint(tick, step);
      if (x + context.measureText(text).width + 4 < this.width - scrollbar) context.fillText(text, x + 4, y - rulerHeight / 2 - 1);
    }
    context.stroke();
    context.strokeStyle = this.ink.lineStrong;
    context.beginPath();
    context.moveTo(0, y - 0.5);
    context.lineTo(this.width, y - 0.5);
    context.stroke();
    context.fillText(`${duration(span)} in sight`, 10, y - rulerHeight / 2 - 1);
  }

  private drawRows(sight: Sight): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(0, rowsTop, this.width - scrollbar, this.height - rowsTop);
    context.clip();
    this.drawBoundaries(sight);
    for (const row of sight.rows) {
      const y = rowsTop + row.y - sight.scroll;
      if (y + row.height < rowsTop || y > this.height) continue;
      if (row.kind === 'group') this.drawGroup(row, y);
      else if (row.kind === 'steps') this.drawSteps(row, y, sight);
      else {
        this.drawLaneTexts(row, y, sight);
        if (row.title) this.drawTitle(row, y);
      }
    }
    this.pathDrawn = sight.path ? this.drawPaths(sight) : 0;
    this.drawLink(sight);
    this.outline(sight.hovered, sight, this.ink.quiet, 1);
    this.outline(sight.selected, sight, this.ink.accent, 2);
    if (sight.range) {
      const [a, b] = sight.range.map((time) => this.xAt(time, sight)) as [number, number];
      context.fillStyle = this.ink.accent;
      context.globalAlpha = 0.14;
      context.fillRect(Math.min(a, b), rowsTop, Math.abs(b - a), this.height);
      context.globalAlpha = 1;
      context.fillStyle = this.ink.accent;
      context.font = font(12, 600);
      context.textAlign = 'center';
      context.fillText(duration(Math.abs(sight.range[1] - sight.range[0])), (a + b) / 2, rowsTop + 12);
      context.textAlign = 'left';
    }
    context.restore();
  }

  private drawGroup(row: Row, y: number): void {
    const { context } = this;
    context.fillStyle = this.ink.ground;
    context.fillRect(0, y, this.width, row.height - 2);
    context.fillStyle = this.ink.ink;
    context.font = font(12, 600);
    context.textBaseline = 'middle';
    this.drawTwist(10, y + row.height / 2 - 1, row.folded);
    context.fillText(this.fitted(row.title, this.width - 60, 12), 22, y + row.height / 2 - 0.5);
  }

  private drawTwist(x: number, y: number, folded: boolean): void {
    const { context } = this;
    context.beginPath();
    if (folded) {
      context.moveTo(x, y - 4);
      context.lineTo(x + 5, y);
      context.lineTo(x, y + 4);
    } else {
      context.moveTo(x - 1.5, y - 2.5);
      context.lineTo(x + 6.5, y - 2.5);
      context.lineTo(x + 2.5, y + 2.5);
    }
    context.fill();
  }

  private drawTitle(row: Row, y: number): void {
    const { context } = this;
    context.fillStyle = `rgb(${this.ink.paper.join(' ')})`;
    context.fillRect(0, y, gutter - 1, row.height);
    context.fillStyle = this.ink.quiet;
    context.font = font(12);
    context.textBaseline = 'middle';
    const height = Math.max(row.height, 12);
    if (row.key) this.drawTwist(14, y + height / 2, row.folded);
    const hidden = row.lanesHidden > 0 ? ` +${row.lanesHidden}` : '';
    const title = this.fitted(row.title, gutter - 34 - hidden.length * 7, 12);
    context.fillText(title, 26, y + height / 2 + 0.5);
    if (hidden) {
      const right = 26 + context.measureText(title).width;
      context.fillStyle = this.ink.faint;
      context.fillText(hidden, right + 2, y + height / 2 + 0.5);
    }
  }

  private drawSteps(row: Row, y: number, sight: Sight): void {
    const { context } = this;
    const steps = this.page.timeline.steps[row.rank]!.steps;
    context.font = font(12);
    context.textBaseline = 'middle';
    let lastRight = -1;
    steps.forEach(([number, begin, end, outlier], i) => {
      if (end < sight.from || begin > sight.to) return;
      const x0 = Math.max(this.xAt(begin, sight), gutter), x1 = Math.min(this.xAt(end, sight), gutter + this.plotWidth);
      if (x1 <= lastRight + 0.5) return;   // many steps in one pixel
      lastRight = x1;
      context.fillStyle = i % 2 === 0 ? this.ink.accentGround : this.ink.ground;
      context.fillRect(x0, y + 2, Math.max(x1 - x0 - 1, 1), row.height - 4);
      context.fillStyle = outlier ? this.ink.faint : this.ink.ink;
      const text = x1 - x0 > 130 ? `Step ${number} · ${duration(end - begin)}` : x1 - x0 > 64 ? `Step ${number}` : String(number);
      if (this.textWidth(text, 12) + 8 < x1 - x0) context.fillText(text, x0 + 5, y + row.height / 2 + 0.5);
    });
    context.fillStyle = `rgb(${this.ink.paper.join(' ')})`;
    context.fillRect(0, y, gutter - 1, row.height);
    context.fillStyle = this.ink.quiet;
    context.fillText(row.title, 10, y + row.height / 2 + 0.5);
  }

  // Where steps begin: on the devices their windows, elsewhere the annotations.
  private drawBoundaries(sight: Sight): void {
    const { context } = this;
    context.strokeStyle = this.ink.lineStrong;
    context.lineWidth = 1;
    context.setLineDash([3, 3]);
    context.beginPath();
    let i = 0;
    while (i < sight.rows.length) {
      const row = sight.rows[i]!;
      if (row.kind !== 'group') {
        i++;
        continue;
      }
      let last = i;
      while (last + 1 < sight.rows.length && sight.rows[last + 1]!.kind === 'lane') last++;
      const y0 = rowsTop + row.y + row.height - sight.scroll, y1 = rowsTop + sight.rows[last]!.y + sight.rows[last]!.height - sight.scroll;
      i = last + 1;
      if (y1 < rowsTop || y0 > this.height || last === sight.rows.indexOf(row)) continue;
      const begins = row.device !== undefined
        ? this.page.timeline.device_steps.find((one) => one.rank === row.rank && one.device === row.device)?.steps.map((step) => step[1]) ?? []
        : this.page.timeline.steps[row.rank]?.steps.map((step) => step[1]) ?? [];
      const inSight = begins.filter((time) => time >= sight.from && time <= sight.to);
      if (inSight.length > this.plotWidth / 12) continue;
      for (const time of inSight) {
        const x = Math.round(this.xAt(time, sight)) + 0.5;
        context.moveTo(x, Math.max(y0, rowsTop));
        context.lineTo(x, y1);
      }
    }
    context.stroke();
    context.setLineDash([]);
  }

  private drawLaneTexts(row: Row, y: number, sight: Sight): void {
    if (row.height < 12) return;
    const { context, items } = this;
    const scale = this.plotWidth / (sight.to - sight.from);
    const lane = items.lanes[row.lane]!;
    context.font = font(11);
    context.textBaseline = 'middle';
    this.pyramid.visit(row.lane, sight.from, sight.to, scale, (level, node, start, end) => {
      if (level !== 0) return;
      const x0 = Math.max(gutter + (start - sight.from) * scale, gutter), x1 = Math.min(gutter + (end - sight.from) * scale, gutter + this.plotWidth);
      if (x1 - x0 < 26) return;
      const item = lane.first + node;
      const block = items.block[item]!;
      const name = this.shortName(item);
      const text = block < 0 ? name : `${items.blocks.count[block]} × ${name} …`;
      const fitted = this.fitted(text, x1 - x0 - 8, 11);
      if (fitted.length < 2) return;
      context.fillStyle = this.ink.onShade[this.pyramid.shade(0, row.lane, node)]!;
      if (block >= 0 || (sight.matches !== null && !contains(sight.matches, item))) context.fillStyle = this.ink.quiet;
      context.fillText(fitted, x0 + 4, y + (row.height - 1) / 2 + 0.5);
    });
  }

  shortName(item: number): string {
    const label = this.items.label[item]!;
    if (this.page.timeline.tracks[this.items.lanes[this.items.lane[item]!]!.track]!.kind === 'idle') return shadeTitle(this.page.timeline.shades[this.page.timeline.label_shades[label]!]!);
    return visible(this.page.timeline.short_labels[label] || this.page.timeline.labels[label] || '(no name)');
  }

  private textWidth(text: string, size: number): number {
    const key = `${size}/${text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      if (this.widths.size > 20_000) this.widths.clear();
      width = this.context.measureText(text).width;
      this.widths.set(key, width);
    }
    return width;
  }

  // The text, or as much of it as fits, in the current font of this size.
  private fitted(text: string, width: number, size: number): string {
    const character = size * 0.5;
    if (text.length * size < width) return text;
    if (text.length * character < width * 1.6 && this.textWidth(text, size) <= width) return text;
    let length = Math.min(Math.floor(width / character), text.length);
    while (length > 1 && this.textWidth(`${text.slice(0, length)}…`, size) > width) length--;
    return length > 1 ? `${text.slice(0, length).trimEnd()}…` : '';
  }

  private drawPaths(sight: Sight): number {
    const rows = new Map<number, Row>();
    for (const row of sight.rows) if (row.kind === 'lane' && row.first) rows.set(this.items.lanes[row.lane]!.track, row);
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(gutter, rowsTop, this.plotWidth, this.height - rowsTop);
    context.clip();
    let drawn = 0;
    for (const path of this.page.timeline.critical_paths) {
      if (path.end < sight.from || path.begin > sight.to) continue;
      drawn += drawPath(context, path, this.ink.path, {
        xAt: (time) => this.xAt(time, sight), left: gutter, right: gutter + this.plotWidth,
        rowOf: (track) => {
          const row = rows.get(track);
          return row && { y: rowsTop + row.y - sight.scroll, height: row.height };
        },
      });
    }
    context.restore();
    return drawn;
  }

  // From the launch to what it launched.
  private drawLink(sight: Sight): void {
    const { items, context } = this;
    if (sight.selected === noItem) return;
    const launch = items.launch[sight.selected]!;
    const ends: [number, number][] = launch !== noItem ? [[launch, sight.selected]] : [];
    for (const [from, to] of ends) {
      const a = this.boxOf(from, sight), b = this.boxOf(to, sight);
      // Only where both ends are in sight: a line that comes from far away says nothing.
      if (!a || !b || a.x0 < gutter || b.x0 > gutter + this.plotWidth) continue;
      context.strokeStyle = this.ink.accent;
      context.lineWidth = 1.25;
      context.beginPath();
      const y0 = a.y + a.height / 2, y1 = b.y + b.height / 2;
      context.moveTo(a.x0, y0);
      context.bezierCurveTo(a.x0 + (b.x0 - a.x0) / 2, y0, a.x0 + (b.x0 - a.x0) / 2, y1, b.x0, y1);
      context.stroke();
      context.fillStyle = this.ink.accent;
      context.beginPath();
      context.arc(b.x0, y1, 2.5, 0, 7);
      context.fill();
    }
  }

  boxOf(item: number, sight: Sight): { x0: number; x1: number; y: number; height: number } | null {
    const row = sight.rows.find((candidate) => candidate.lane === this.items.lane[item]);
    if (!row) return null;
    return { x0: this.xAt(this.items.start[item]!, sight), x1: this.xAt(this.items.end[item]!, sight), y: rowsTop + row.y - sight.scroll, height: row.height };
  }

  private outline(item: number, sight: Sight, style: string, width: number): void {
    if (item === noItem) return;
    const box = this.boxOf(item, sight);
    if (!box) return;
    const x0 = Math.max(box.x0, gutter - 3), x1 = Math.min(box.x1, gutter + this.plotWidth + 3);
    if (x1 < gutter || x0 > gutter + this.plotWidth) return;
    this.context.strokeStyle = style;
    this.context.lineWidth = width;
    this.context.strokeRect(Math.round(x0) - 0.5, Math.round(box.y) - 0.5, Math.max(Math.round(x1 - x0), 3), box.height);
  }
}

export function contains(sorted: Uint32Array, value: number): boolean {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value;
}
