// The interactive timeline: what is in sight, and how wheel, pointer and keys change it.
import type { PageDocument } from '../data/document.ts';
import { type Items, enclosing, itemAt, noItem } from '../data/items.ts';
import { h } from '../dom.ts';
import { duration, grouped, percent, timePoint } from '../format.ts';
import { onThemeChange } from '../theme.ts';
import { hideTip, showTip } from '../tip.ts';
import { type Sight, TimelineCanvas, gutter, mapHeight, rowsTop } from './canvas.ts';
import { factsOf, nameOf, shadeTitle } from './facts.ts';
import { Pyramid } from './pyramid.ts';
import { type Folding, type Row, layRows } from './rows.ts';
import { find, matcher } from './search.ts';

const closest = 20;   // ns in sight at the nearest zoom

export class TimelineView {
  readonly element: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly scroller: HTMLElement;
  private readonly spacer: HTMLElement;
  private readonly factsPanel: HTMLElement;
  private readonly searchField: HTMLInputElement;
  private readonly searchCount: HTMLElement;
  private readonly status: HTMLElement;
  private readonly foot: HTMLElement;
  private readonly allRanks: HTMLButtonElement;
  private readonly pathButton: HTMLButtonElement;
  private drawing: TimelineCanvas | null = null;
  private items: Items | null = null;
  private sight: Sight;
  private rowsHeight = 0;
  private rank = 0;
  private showAllRanks = false;
  private device: string | undefined;
  private readonly folding: Folding = { folded: new Set(), opened: new Set() };
  private found: Uint32Array | null = null;   // by start
  private at = -1;
  private frame = 0;
  private pendingSearch: string | null = null;

  constructor(readonly page: PageDocument) {
    const frame = page.timeline;
    this.sight = { from: frame.begin, to: Math.max(frame.end, frame.begin + 1), scroll: 0, rows: [], selected: noItem, hovered: noItem, matches: null, range: null, path: page.timeline.critical_paths.length > 0 };
    this.canvas = h('canvas', {
      tabindex: 0, role: 'application', 'aria-label': 'Timeline. W and S zoom, A and D move, comma and full stop select the slice before and after, question mark lists all keys.',
      'aria-describedby': 'timeline-status',
    });
    this.spacer = h('div', {});
    this.scroller = h('div', { class: 'scroller', tabindex: -1, 'aria-hidden': 'true' }, this.spacer);
    this.searchField = h('input', { class: 'field', type: 'search', placeholder: 'Search slices by name', 'aria-label': 'Search slices by name; /…/ is a regular expression', size: 30, spellcheck: 'false' });
    this.searchCount = h('span', { class: 'count', role: 'status' });
    this.status = h('div', { id: 'timeline-status', class: 'visually-hidden', role: 'status' });
    this.factsPanel = h('section', { class: 'facts', 'aria-label': 'Facts about the selected slice', tabindex: 0 });
    this.foot = h('div', { class: 'foot' });
    const button = (label: string, title: string, action: () => void, square = false): HTMLButtonElement =>
      h('button', { class: square ? 'button square' : 'button', type: 'button', title, 'aria-label': title, onclick: action }, label);
    this.allRanks = button('All ranks', 'Show all ranks', () => this.setAllRanks(!this.showAllRanks));
    this.allRanks.hidden = page.meta.ranks.length < 2;
    this.allRanks.setAttribute('aria-pressed', 'false');
    this.pathButton = button('Critical path', 'Show the critical path of the steps (P)', () => this.setPath(!this.sight.path));
    this.pathButton.hidden = page.timeline.critical_paths.length === 0;
    this.pathButton.setAttribute('aria-pressed', String(this.sight.path));
    this.element = h('div', { class: 'timeline' },
      h('div', { class: 'tools' },
        this.searchField,
        button('‹', 'Previous match (Shift+N)', () => this.nextMatch(-1), true),
        button('›', 'Next match (N)', () => this.nextMatch(1), true),
        this.searchCount,
        h('span', { class: 'grow', style: { flex: '1' } }),
        this.pathButton,
        this.allRanks,
        button('‹ Step', 'Previous step (Shift+E)', () => this.nextStep(-1)),
        button('Step ›', 'Next step (E)', () => this.nextStep(1)),
        button('−', 'Zoom out (S)', () => this.zoom(1.6), true),
        button('+', 'Zoom in (W)', () => this.zoom(1 / 1.6), true),
        button('Fit', 'Show everything (0)', () => this.fit()),
      ),
      h('div', { class: 'stage' }, this.canvas, this.scroller),
      this.factsPanel,
      this.foot,
      this.status,
    );
    this.showFacts();
    this.listen();
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
    onThemeChange(() => {
      this.drawing?.readColours();
      this.drawNow();
    });
  }

  setItems(items: Items): void {
    this.items = items;
    const frame = this.page.timeline;
    const pyramid = new Pyramid(items, Uint8Array.from(frame.label_shades), frame.shades.length);
    this.drawing = new TimelineCanvas(this.canvas, this.page, items, pyramid);
    this.layRows();
    this.describe();
    this.firstSight();
    if (this.pendingSearch !== null) this.search(this.pendingSearch);
    this.redraw();
  }

  setScope(rank: number, device: string | undefined): void {
    this.rank = rank;
    this.device = device;
    this.layRows();
    if (this.searchField.value) this.search(this.searchField.value);
    this.redraw();
  }

  // --- what is in sight -------------------------------------------------------------------------------------------------------------------------------

  // A typical step with its surroundings where there are several, else everything.
  private firstSight(): void {
    this.fit();
  }

  setPath(shown: boolean): void {
    if (this.pathButton.hidden) return;
    this.sight.path = shown;
    this.pathButton.setAttribute('aria-pressed', String(shown));
    this.redraw();
  }

  fit(): void {
    const frame = this.page.timeline;
    const margin = (frame.end - frame.begin) * 0.005;
    this.look(frame.begin - margin, frame.end + margin);
  }

  look(from: number, to: number): void {
    const frame = this.page.timeline;
    const whole = Math.max(frame.end - frame.begin, closest);
    const span = Math.min(Math.max(to - from, closest), whole * 1.1);
    const middle = Math.min(Math.max((from + to) / 2, frame.begin), frame.end);
    this.sight.from = middle - span / 2;
    this.sight.to = middle + span / 2;
    this.redraw();
  }

  zoom(factor: number, x = gutter + (this.drawing?.plotWidth ?? 0) / 2): void {
    if (!this.drawing) return;
    const time = this.drawing.timeAt(Math.max(x, gutter), this.sight);
    const frame = this.page.timeline;
    const span = this.sight.to - this.sight.from;
    const wanted = Math.min(Math.max(span * factor, closest), Math.max(frame.end - frame.begin, closest) * 1.1);
    const share = (time - this.sight.from) / span;
    this.look(time - share * wanted, time + (1 - share) * wanted);
  }

  move(share: number): void {
    const by = (this.sight.to - this.sight.from) * share;
    this.look(this.sight.from + by, this.sight.to + by);
  }

  scroll(pixels: number): void {
    this.scroller.scrollTop = this.sight.scroll + pixels;
  }

  nextStep(direction: 1 | -1): void {
    const frame = this.page.timeline;
    const onDevice = frame.device_steps.find((one) => one.rank === this.rank && one.device === this.device)?.steps.map((step) => [step[0], step[1], step[2]] as const);
    const steps = onDevice && onDevice.length > 0 ? onDevice : (frame.steps[this.rank]?.steps ?? []).map((step) => [step[0], step[1], step[2]] as const);
    if (steps.length === 0) return;
    const { from, to } = this.sight;
    const middle = (from + to) / 2;
    let wanted = steps.findIndex(([, begin, end]) => begin <= middle && middle < end);
    const step = steps[wanted];
    const inSight = step && Math.abs(to - from) < (step[2] - step[1]) * 1.5;
    if (wanted < 0) wanted = middle < steps[0]![1] ? 0 : steps.length - 1;
    else if (inSight) wanted = Math.min(Math.max(wanted + direction, 0), steps.length - 1);
    const [number, begin, end] = steps[wanted]!;
    const margin = (end - begin) * 0.03;
    this.look(begin - margin, end + margin);
    this.status.textContent = `Step ${number}, ${duration(end - begin)}`;
  }

  showStep(number: number): void {
    const frame = this.page.timeline;
    const onDevice = frame.device_steps.find((one) => one.rank === this.rank && one.device === this.device)?.steps.find((step) => step[0] === number);
    const onHost = frame.steps[this.rank]?.steps.find((step) => step[0] === number);
    const begin = Math.min(onDevice?.[1] ?? Infinity, onHost?.[1] ?? Infinity), end = Math.max(onDevice?.[2] ?? -Infinity, onHost?.[2] ?? -Infinity);
    if (begin < end) this.look(begin - (end - begin) * 0.02, end + (end - begin) * 0.02);
  }

  // --- selection and search ---------------------------------------------------------------------------------------------------------------------------

  select(item: number, reveal = false): void {
    this.sight.selected = item;
    if (item !== noItem && reveal) this.reveal(item);
    this.showFacts();
    this.redraw();
  }

  private reveal(item: number): void {
    const items = this.items!;
    const track = items.lanes[items.lane[item]!]!.track;
    const rank = this.page.timeline.tracks[track]!.rank;
    if (rank !== this.rank && !this.showAllRanks) this.setAllRanks(true);
    if (!this.sight.rows.some((row) => row.lane === items.lane[item])) {
      const frame = this.page.timeline.tracks[track]!;
      this.folding.folded.delete(`track${track}`);
      this.folding.opened.add(`track${track}`);
      this.folding.folded.delete(frame.device !== undefined ? `device${rank}/${frame.device}` : `process${rank}/${frame.process ?? ''}`);
      this.layRows();
    }
    const row = this.sight.rows.find((candidate) => candidate.lane === items.lane[item]);
    if (row && this.drawing) {
      const height = this.drawing.height - rowsTop;
      if (row.y < this.sight.scroll || row.y + row.height > this.sight.scroll + height) this.scroller.scrollTop = Math.max(row.y - height / 2, 0);
    }
    const start = items.start[item]!, end = items.end[item]!;
    const { from, to } = this.sight;
    const span = to - from;
    const pixels = ((end - start) / span) * (this.drawing?.plotWidth ?? 1000);
    if (pixels < 4) {
      // Too small to see: come close enough.
      const wanted = Math.max((end - start) * 30, closest);
      this.look((start + end) / 2 - wanted / 2, (start + end) / 2 + wanted / 2);
    } else if (start < from || end > to) {
      const wanted = Math.max(span, (end - start) * 1.2);
      this.look((start + end) / 2 - wanted / 2, (start + end) / 2 + wanted / 2);
    }
  }

  private step(direction: 1 | -1): void {
    const items = this.items;
    if (!items || this.sight.selected === noItem) return;
    const lane = items.lanes[items.lane[this.sight.selected]!]!;
    const next = this.sight.selected + direction;
    if (next >= lane.first && next < lane.first + lane.count) this.select(next, true);
  }

  private selectOuter(): void {
    if (!this.items || this.sight.selected === noItem) return;
    const outer = enclosing(this.items, this.sight.selected);
    if (outer !== noItem) this.select(outer, true);
  }

  // From a device slice to its launch, from a call to what it launched.
  private followLink(): void {
    const items = this.items;
    if (!items || this.sight.selected === noItem) return;
    const fact = factsOf(this.page, items, this.sight.selected).find((one) => one.item !== undefined && (one.title === 'Launched by' || one.title === 'Launched'));
    if (fact) this.select(fact.item!, true);
  }

  zoomToSelection(): void {
    if (!this.items || this.sight.selected === noItem) return;
    const start = this.items.start[this.sight.selected]!, end = this.items.end[this.sight.selected]!;
    const margin = Math.max((end - start) * 0.15, closest / 2);
    this.look(start - margin, end + margin);
  }

  // Also called by other views: "find this kernel in the timeline".
  search(text: string): void {
    if (this.searchField.value !== text) this.searchField.value = text;
    if (!this.items) {
      this.pendingSearch = text;
      return;
    }
    const matches = matcher(text);
    this.at = -1;
    if (matches === null || matches instanceof Error) {
      this.found = null;
      this.sight.matches = null;
      this.searchCount.textContent = matches === null ? '' : 'not a regular expression';
    } else {
      const found = find(this.page, this.items, matches, new Set(this.ranksInSight()));
      this.found = found.byStart;
      this.sight.matches = found.items;
      this.searchCount.textContent = found.byStart.length === 0 ? 'no match' : `${grouped(found.byStart.length)} ${found.byStart.length === 1 ? 'match' : 'matches'}`;
    }
    this.redraw();
  }

  nextMatch(direction: 1 | -1): void {
    const found = this.found;
    if (!found || found.length === 0 || !this.items) return;
    if (this.at < 0) {
      // Begin at what is in sight.
      this.at = direction > 0 ? Math.max(found.findIndex((item) => this.items!.start[item]! >= this.sight.from), 0) : found.length - 1;
    } else {
      this.at = (this.at + direction + found.length) % found.length;
    }
    this.select(found[this.at]!, true);
    this.searchCount.textContent = `${grouped(this.at + 1)} of ${grouped(found.length)}`;
  }

  focusSearch(): void {
    this.searchField.focus();
    this.searchField.select();
  }

  focusCanvas(): void { this.canvas.focus({ preventScroll: true }); }

  private showFacts(): void {
    const panel = this.factsPanel;
    panel.replaceChildren();
    if (!this.items || this.sight.selected === noItem) {
      panel.append(h('p', { class: 'note' }, 'Click a slice for what is known of it. Wheel or ', h('kbd', {}, 'W'), ' ', h('kbd', {}, 'S'), ' zoom, drag or ', h('kbd', {}, 'A'), ' ',
        h('kbd', {}, 'D'), ' move, ', h('kbd', {}, '/'), ' searches, ', h('kbd', {}, '?'), ' lists all keys.'));
      return;
    }
    const item = this.sight.selected;
    const shade = this.page.timeline.shades[this.drawing!.pyramid.shade(0, this.items.lane[item]!, item - this.items.lanes[this.items.lane[item]!]!.first)]!;
    const name = nameOf(this.page, this.items, item);
    panel.append(h('div', { class: 'name' }, h('span', { class: 'swatch', style: { background: `var(--${shade})` } }), h('span', {}, name)));
    const list = h('dl', {});
    for (const fact of factsOf(this.page, this.items, item)) {
      list.append(h('dt', {}, fact.title), h('dd', {}, fact.item === undefined ? fact.text : h('button', { class: 'linkish', type: 'button', onclick: () => this.select(fact.item!, true) }, fact.text)));
    }
    panel.append(list);
    this.status.textContent = `${name}, ${duration(this.items.end[item]! - this.items.start[item]!)}`;
  }

  // --- rows -------------------------------------------------------------------------------------------------------------------------------------------

  private ranksInSight(): number[] {
    return this.showAllRanks ? this.page.meta.ranks.map((_, rank) => rank) : [this.rank];
  }

  private setAllRanks(all: boolean): void {
    this.showAllRanks = all;
    this.allRanks.setAttribute('aria-pressed', String(all));
    this.layRows();
    if (this.searchField.value) this.search(this.searchField.value);
    this.redraw();
  }

  private layRows(): void {
    if (!this.items) return;
    const { rows, height } = layRows(this.page, this.items, this.ranksInSight(), this.folding);
    this.sight.rows = rows;
    this.rowsHeight = height;
    this.redraw();
  }

  private toggle(row: Row): void {
    if (row.folded) {
      this.folding.folded.delete(row.key);
      this.folding.opened.add(row.key);
    } else {
      this.folding.folded.add(row.key);
      this.folding.opened.delete(row.key);
    }
    this.layRows();
  }

  private describe(): void {
    const frame = this.page.timeline;
    const total = frame.slices_single + frame.slices_merged + frame.slices_left_out;
    const drawn = frame.slices_merged + frame.slices_left_out === 0
      ? `All ${grouped(total)} slices are drawn one by one.`
      : `${grouped(frame.slices_single)} of ${grouped(total)} slices are drawn one by one${frame.slices_merged > 0
        ? `; outside of ${frame.whole.some((windows) => windows.length > 0) ? 'the typical and the slowest steps' : 'the longest ones'} slices are merged into blocks of at most ${duration(frame.merged_below)}`
        : ''}${frame.slices_left_out > 0 ? `; ${grouped(frame.slices_left_out)} on further rows are not drawn` : ''}.`;
    const shown = ['compute', 'communication', 'memory', 'operation', 'runtime_call', 'annotation', 'python_function'].filter((name) => frame.label_shades.some((shade) => frame.shades[shade] === name));
    this.foot.replaceChildren(
      h('span', { class: 'drawn' }, drawn),
      h('span', { class: 'legend' }, shown.map((name) => h('span', { class: 'entry' }, h('span', { class: 'swatch', style: { background: `var(--${name})` } }), shadeTitle(name))),
        frame.critical_paths.length > 0 ? h('span', { class: 'entry' }, h('span', { class: 'swatch', style: { background: 'var(--critical-path)' } }), 'Critical path') : []),
    );
  }

  // Lanes of the map: the first lane of every stream of the chosen device, else the busiest threads.
  private mapLanes(): number[] {
    const items = this.items!;
    const frame = this.page.timeline;
    const lanes = frame.tracks.flatMap((track, number) => (track.kind === 'stream' && track.rank === this.rank && (this.device === undefined || track.device === this.device) ? items.lanesOfTrack[number]!.slice(0, 1) : []));
    const candidates = lanes.length > 0 ? lanes : items.lanesOfTrack.filter((_, number) => frame.tracks[number]!.rank === this.rank).map((all) => all[0]!).filter((lane) => lane !== undefined);
    return candidates.sort((a, b) => items.lanes[b]!.busy - items.lanes[a]!.busy).slice(0, 6);
  }

  // --- drawing ----------------------------------------------------------------------------------------------------------------------------------------

  redraw(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.drawNow();
    });
  }

  drawNow(): void {
    if (!this.drawing || !this.drawing.resize()) return;
    const begin = performance.now();
    this.spacer.style.height = `${this.rowsHeight + rowsTop + 8}px`;
    this.scroller.style.visibility = this.rowsHeight + rowsTop + 8 > this.drawing.height ? 'visible' : 'hidden';
    this.sight.scroll = this.scroller.scrollTop;
    this.drawing.draw(this.sight, this.mapLanes());
    // For measurements by tests.
    this.canvas.dataset['frameMs'] = (performance.now() - begin).toFixed(2);
    this.canvas.dataset['from'] = String(this.sight.from);
    this.canvas.dataset['to'] = String(this.sight.to);
    this.canvas.dataset['path'] = String(this.drawing.pathDrawn);
    this.canvas.dataset['scroll'] = String(this.sight.scroll);
  }

  // --- pointer and keys -------------------------------------------------------------------------------------------------------------------------------

  private rowAt(y: number): Row | undefined {
    const at = y - rowsTop + this.sight.scroll;
    return y < rowsTop ? undefined : this.sight.rows.find((row) => row.y <= at && at < row.y + row.height);
  }

  // The item at a point, or the longest within two pixels of it.
  private itemAtPoint(x: number, y: number): number {
    const row = this.rowAt(y);
    if (!row || row.lane < 0 || !this.items || !this.drawing || x < gutter) return noItem;
    const time = this.drawing.timeAt(x, this.sight);
    const exact = itemAt(this.items, this.items.lanes[row.lane]!, time);
    const nanosecondsPerPixel = (this.sight.to - this.sight.from) / this.drawing.plotWidth;
    if (exact !== noItem && this.items.end[exact]! - this.items.start[exact]! >= nanosecondsPerPixel * 3) return exact;
    return this.drawing.pyramid.summary(row.lane, time - 2 * nanosecondsPerPixel, time + 2 * nanosecondsPerPixel).longest;
  }

  private hover(x: number, y: number, clientX: number, clientY: number): void {
    const row = this.rowAt(y);
    const item = this.itemAtPoint(x, y);
    if (item !== this.sight.hovered) {
      this.sight.hovered = item;
      this.redraw();
    }
    this.canvas.style.cursor = item !== noItem || (row && row.key && (row.kind === 'group' || x < gutter)) ? 'pointer' : y < mapHeight && x > gutter ? 'ew-resize' : 'default';
    if (item === noItem || !this.items || !this.drawing) {
      hideTip();
      return;
    }
    const items = this.items;
    const block = items.block[item]!;
    const nanosecondsPerPixel = (this.sight.to - this.sight.from) / this.drawing.plotWidth;
    const time = this.drawing.timeAt(x, this.sight);
    const around = this.drawing.pyramid.summary(row!.lane, time - 2 * nanosecondsPerPixel, time + 2 * nanosecondsPerPixel);
    const length = items.end[item]! - items.start[item]!;
    const facts = factsOf(this.page, items, item);
    const fact = (title: string): string | undefined => facts.find((one) => one.title === title)?.text;
    const lines: (Node | string)[] = [h('b', {}, this.drawing.shortName(item))];
    if (block >= 0) {
      lines.push(h('div', {}, `${grouped(items.blocks.count[block]!)} slices, ${percent(length > 0 ? items.blocks.busy[block]! / length : 1)} busy; the longest, named here, ${duration(items.blocks.longest[block]!)}`));
    } else {
      lines.push(h('div', {}, duration(length), h('span', { class: 'quiet' }, ` from ${timePoint(items.start[item]! - this.page.timeline.begin, Math.max(nanosecondsPerPixel, 1))} · ${fact('Kind')}`)));
      const operator = fact('Operator') ?? fact('Inside');
      if (operator) lines.push(h('div', { class: 'quiet' }, `in ${operator.length > 90 ? `${operator.slice(0, 90)}…` : operator}`));
    }
    if (length < nanosecondsPerPixel * 2 && around.count > 1) lines.push(h('div', { class: 'quiet' }, `the longest of ${grouped(around.count)} slices here`));
    showTip(clientX, clientY, lines);
  }

  private listen(): void {
    const canvas = this.canvas;
    const place = (event: MouseEvent): [number, number] => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      const [x, y] = place(event);
      const unit = event.deltaMode === 1 ? 20 : event.deltaMode === 2 ? 400 : 1;
      if (event.shiftKey) this.move(((event.deltaY || event.deltaX) * unit) / 900);
      else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.move((event.deltaX * unit) / 900);
      else if ((x < gutter && y > rowsTop) || event.altKey) this.scroll(event.deltaY * unit);
      else this.zoom(Math.exp(Math.max(-240, Math.min(240, event.deltaY * unit)) * 0.0022), x);
    }, { passive: false });

    let drag: { x: number; y: number; from: number; to: number; scroll: number; mode: 'pan' | 'map' | 'range'; moved: boolean } | null = null;
    const mapTo = (x: number): void => {
      const frame = this.page.timeline;
      const middle = frame.begin + ((x - gutter) / (this.drawing?.plotWidth ?? 1)) * (frame.end - frame.begin);
      const span = this.sight.to - this.sight.from;
      this.look(middle - span / 2, middle + span / 2);
    };
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || !this.drawing) return;
      const [x, y] = place(event);
      canvas.setPointerCapture(event.pointerId);
      const mode = y < mapHeight && x >= gutter ? 'map' : event.shiftKey || (y < rowsTop && x >= gutter) ? 'range' : 'pan';
      drag = { x, y, from: this.sight.from, to: this.sight.to, scroll: this.sight.scroll, mode, moved: false };
      if (mode === 'map') mapTo(x);
      hideTip();
    });
    canvas.addEventListener('pointermove', (event) => {
      const [x, y] = place(event);
      if (!drag || !this.drawing) {
        this.hover(x, y, event.clientX, event.clientY);
        return;
      }
      if (Math.abs(x - drag.x) + Math.abs(y - drag.y) > 3) drag.moved = true;
      if (!drag.moved) return;
      if (drag.mode === 'map') mapTo(x);
      else if (drag.mode === 'range') {
        const before = { ...this.sight, from: drag.from, to: drag.to };
        this.sight.range = [this.drawing.timeAt(Math.max(drag.x, gutter), before), this.drawing.timeAt(Math.max(x, gutter), before)];
        this.redraw();
      } else {
        const by = ((drag.x - x) / this.drawing.plotWidth) * (drag.to - drag.from);
        this.scroller.scrollTop = drag.scroll + (drag.y - y);
        this.look(drag.from + by, drag.to + by);
        canvas.style.cursor = 'grabbing';
      }
    });
    canvas.addEventListener('pointerup', (event) => {
      const [x, y] = place(event);
      const ended = drag;
      drag = null;
      if (!ended) return;
      const range = this.sight.range;
      this.sight.range = null;
      if (ended.moved && ended.mode === 'range' && range) this.look(Math.min(...range), Math.max(...range));
      if (ended.moved || ended.mode === 'map') {
        this.redraw();
        return;
      }
      const row = this.rowAt(y);
      if (row?.key && (row.kind === 'group' || x < gutter)) this.toggle(row);
      else this.select(this.itemAtPoint(x, y));
    });
    canvas.addEventListener('pointercancel', () => { drag = null; this.sight.range = null; });
    canvas.addEventListener('pointerleave', () => {
      this.sight.hovered = noItem;
      hideTip();
      this.redraw();
    });
    canvas.addEventListener('dblclick', (event) => {
      const item = this.itemAtPoint(...place(event));
      if (item === noItem) return;
      this.select(item);
      this.zoomToSelection();
    });
    this.scroller.addEventListener('scroll', () => this.redraw());
    let typing = 0;
    this.searchField.addEventListener('input', () => {
      clearTimeout(typing);
      typing = window.setTimeout(() => this.search(this.searchField.value.trim()), 120);
    });
    this.searchField.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') {
        clearTimeout(typing);
        if (this.found === null || this.at < 0) this.search(this.searchField.value.trim());
        this.nextMatch(event.shiftKey ? -1 : 1);
        event.preventDefault();
      } else if (event.key === 'Escape') {
        this.search('');
        this.focusCanvas();
        event.stopPropagation();
      }
    });
  }

  // Keys while the timeline is the view shown and no field is being typed in; true = it was one of ours.
  key(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    switch (event.key) {
      case 'w': case 'W': case '+': case '=': this.zoom(1 / 1.35); return true;
      case 's': case 'S': case '-': case '_': this.zoom(1.35); return true;
      case 'a': case 'A': this.move(-0.15); return true;
      case 'd': case 'D': this.move(0.15); return true;
      case 'ArrowLeft': this.move(-0.15); return true;
      case 'ArrowRight': this.move(0.15); return true;
      case 'ArrowUp': this.scroll(-54); return true;
      case 'ArrowDown': this.scroll(54); return true;
      case 'PageUp': this.scroll(-320); return true;
      case 'PageDown': this.scroll(320); return true;
      case 'Home': case '0': this.fit(); return true;
      case ',': this.selectNear(); this.step(-1); return true;
      case '.': this.selectNear(); this.step(1); return true;
      case 'u': this.selectOuter(); return true;
      case 'l': this.followLink(); return true;
      case 'f': case 'Enter': this.zoomToSelection(); return event.key === 'f' || document.activeElement === this.canvas;
      case 'p': this.setPath(!this.sight.path); return true;
      case 'e': this.nextStep(1); return true;
      case 'E': this.nextStep(-1); return true;
      case 'n': this.nextMatch(1); return true;
      case 'N': this.nextMatch(-1); return true;
      case '/': this.focusSearch(); return true;
      case 'Escape':
        if (this.sight.selected === noItem) return false;
        this.select(noItem);
        return true;
      default: return false;
    }
  }

  // Without a selection, keys begin at the longest slice in sight of the first row that has one.
  private selectNear(): void {
    if (this.sight.selected !== noItem || !this.drawing) return;
    for (const row of this.sight.rows) {
      if (row.lane < 0 || row.y + row.height < this.sight.scroll || this.page.timeline.tracks[this.items!.lanes[row.lane]!.track]!.kind === 'idle') continue;
      const { longest } = this.drawing.pyramid.summary(row.lane, this.sight.from, this.sight.to);
      if (longest !== noItem) {
        this.select(longest);
        return;
      }
    }
  }
}
