// What is known of one item of the timeline, as rows of title and value; a value may lead to another item.
import type { PageDocument } from '../data/document.ts';
import { type Items, enclosing, noItem } from '../data/items.ts';
import { duration, format, grouped, percent, timePoint, visible } from '../format.ts';
import { trackTitle } from './rows.ts';

export interface Fact { title: string; text: string; item?: number }

const shadeTitles: Record<string, string> = {
  compute: 'Kernel, compute', communication: 'Kernel, communication', memory: 'Copy or set', device_sync: 'Synchronisation record', device_annotation: 'Annotation on the device',
  operation: 'Operator', runtime_call: 'Runtime call', driver_call: 'Driver call', python_function: 'Python function', annotation: 'Annotation', overhead: "Profiler's overhead",
  profiler: "Profiler's span", other: 'Other record',
  idle_host: 'Idle: the host launched late', idle_launch: 'Idle: launch on its way', idle_scheduling: "Idle: device's own gap between queued slices",
  idle_dependency: 'Idle: waiting for another slice', idle_graph: 'Idle: inside a graph launch', idle_unknown: 'Idle: cause unknown', idle_unlinked: 'Idle: next slice has no launch record',
};

export function shadeTitle(name: string): string { return shadeTitles[name] ?? name; }

// The innermost operator around an item of a thread.
function enclosingOperation(page: PageDocument, items: Items, item: number): number {
  for (let at = item; at !== noItem; at = enclosing(items, at)) {
    if (page.timeline.shades[page.timeline.label_shades[items.label[at]!]!] === 'operation') return at;
  }
  return noItem;
}

export function operationOf(page: PageDocument, items: Items, item: number): number {
  if (items.operation[item] !== noItem) return items.operation[item]!;
  return items.launch[item] === noItem ? noItem : enclosingOperation(page, items, items.launch[item]!);
}

// Device items whose launch begins inside an item of a thread (or is that item).
export function launchedBy(items: Items, item: number): { count: number; time: number; first: number } {
  const track = items.lanes[items.lane[item]!]!.track;
  const start = items.start[item]!, end = items.end[item]!;
  let count = 0, time = 0, first = noItem;
  for (let candidate = 0; candidate < items.count; candidate++) {
    const launch = items.launch[candidate]!;
    if (launch === noItem || items.lanes[items.lane[launch]!]!.track !== track) continue;
    const at = items.start[launch]!;
    if (launch !== item && (at < start || at >= end || items.end[launch]! > end)) continue;
    count++;
    time += items.end[candidate]! - items.start[candidate]!;
    if (first === noItem) first = candidate;
  }
  return { count, time, first };
}

export function nameOf(page: PageDocument, items: Items, item: number): string {
  // A gap is labelled with the slice that ended it; its name is its cause.
  if (page.timeline.tracks[items.lanes[items.lane[item]!]!.track]!.kind === 'idle') return shadeTitle(page.timeline.shades[page.timeline.label_shades[items.label[item]!]!]!);
  return visible(page.timeline.labels[items.label[item]!] || '(no name)');
}

export function factsOf(page: PageDocument, items: Items, item: number): Fact[] {
  const frame = page.timeline;
  const lane = items.lanes[items.lane[item]!]!;
  const track = frame.tracks[lane.track]!;
  const start = items.start[item]!, end = items.end[item]!;
  const block = items.block[item]!;
  const shade = frame.shades[block < 0 ? frame.label_shades[items.label[item]!]! : items.blocks.shade[block]!]!;
  const facts: Fact[] = [];
  if (block >= 0) {
    const busy = items.blocks.busy[block]!;
    facts.push({ title: 'Slices', text: `${grouped(items.blocks.count[block]!)}, drawn as one` });
    facts.push({ title: 'Busy', text: `${duration(busy)} (${percent(end > start ? busy / (end - start) : 1)})` });
    facts.push({ title: 'Longest', text: `${duration(items.blocks.longest[block]!)}, named above` });
    facts.push({ title: 'Mostly', text: shadeTitle(shade) });
    if (track.kind === 'idle') facts[facts.length - 4]!.title = 'Gaps';
  } else {
    facts.push({ title: 'Kind', text: shadeTitle(shade) });
  }
  if (track.kind === 'idle' && block < 0) facts.push({ title: 'Until', text: page.timeline.labels[items.label[item]!] || '(no name)' });
  facts.push({ title: 'Start', text: timePoint(start - frame.begin, 1) });
  facts.push({ title: block < 0 ? 'Duration' : 'Stretch', text: `${duration(end - start)}${end - start >= 1000 ? ` (${grouped(end - start)} ns)` : ''}` });
  const rank = page.meta.ranks[track.rank]?.rank ?? track.rank;
  facts.push({ title: 'Where', text: `Rank ${rank} · ${track.device !== undefined ? `GPU ${visible(track.device)} · ` : ''}${trackTitle(track)}` });
  const device = frame.device_steps.find((one) => one.rank === track.rank && one.device === track.device);
  const steps: [number, number, number][] = device?.steps ?? frame.steps[track.rank]?.steps.map((step) => [step[0], step[1], step[2]]) ?? [];
  const step = steps.find(([, begin, stepEnd]) => begin <= start && start < stepEnd);
  if (step) facts.push({ title: 'Step', text: String(step[0]) });
  if (track.kind === 'stream' && block < 0) {
    const launch = items.launch[item]!;
    if (launch !== noItem) {
      facts.push({ title: 'Launched by', text: nameOf(page, items, launch), item: launch });
      facts.push({ title: 'Launch delay', text: `${duration(start - items.end[launch]!)} after the call's end` });
    } else if (['compute', 'communication', 'memory'].includes(shade)) {
      facts.push({ title: 'Launched by', text: frame.slices_merged > 0 ? 'no launch record, or drawn in a block' : 'no launch record' });
    }
    const operation = operationOf(page, items, item);
    if (operation !== noItem) facts.push({ title: 'Operator', text: nameOf(page, items, operation), item: operation });
  } else if (track.kind === 'thread' && block < 0) {
    const above = enclosing(items, item);
    if (above !== noItem) facts.push({ title: 'Inside', text: nameOf(page, items, above), item: above });
    const launched = launchedBy(items, item);
    if (launched.count > 0) facts.push({ title: 'Launched', text: `${grouped(launched.count)} ${launched.count === 1 ? 'slice' : 'slices'}, ${duration(launched.time)}`, item: launched.first });
  }
  const detail = items.detail[item]!;
  if (detail >= 0) {
    for (const line of (frame.details[detail] ?? '').split('\n')) {
      const tab = line.indexOf('\t');
      if (tab > 0) facts.push({ title: visible(line.slice(0, tab)), text: argumentText(line.slice(0, tab), line.slice(tab + 1)) });
    }
  }
  return facts;
}

// Arguments as recorded; a text loses its quotes, bytes get a unit.
function argumentText(key: string, value: string): string {
  const bytes = key === 'bytes' ? Number(value) : NaN;
  if (Number.isFinite(bytes)) return format(bytes, 'bytes');
  return visible(/^"[^"\\]*"$/.test(value) ? value.slice(1, -1) : value);
}
