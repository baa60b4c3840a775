// The rows of the timeline from top to bottom: for each rank its steps, its devices with their streams, its processes with their threads.
import type { PageDocument, TrackFrame } from '../data/document.ts';
import type { Items } from '../data/items.ts';
import { visible } from '../format.ts';

export interface Row {
  kind: 'group' | 'steps' | 'lane';
  y: number;
  height: number;
  title: string;        // "" for lanes below a track's first
  key: string;          // of what can be folded; "" = cannot
  folded: boolean;
  rank: number;
  device?: string;
  lane: number;         // -1 for groups and steps
  first: boolean;       // first lane of its track
  lanesHidden: number;  // of a folded track
}

export const groupHeight = 24, stepsHeight = 20, laneHeight = 18, threadLaneHeight = 15, idleHeight = 14;
const most_open_lanes = 60;

export interface Folding { folded: Set<string>; opened: Set<string> }

export function rankTitle(page: PageDocument, rank: number): string {
  return `Rank ${page.meta.ranks[rank]?.rank ?? rank}`;
}

export function trackTitle(track: TrackFrame): string {
  if (track.kind === 'idle') return 'Idle, by cause';
  if (track.kind === 'stream') return track.stream !== undefined ? `Stream ${track.stream}` : visible(track.label || track.thread || 'Stream');
  const label = track.label || track.thread || '';
  return visible(/^\d+$/.test(label) ? `Thread ${label}` : label || 'Thread');
}

// Tracks on which the host marked steps or ranges.
const marked = new WeakMap<Items, Set<number>>();
function markedTracks(page: PageDocument, items: Items): Set<number> {
  const known = marked.get(items);
  if (known) return known;
  const found = new Set<number>();
  const annotation = page.timeline.shades.indexOf('annotation');
  const wanted = page.timeline.label_shades.map((shade, label) => shade === annotation && /^ProfilerStep/.test(page.timeline.labels[label]!));
  const some = wanted.includes(true);
  for (let item = 0; item < items.count; item++) {
    const label = items.label[item]!;
    if (some ? wanted[label] : page.timeline.label_shades[label] === annotation) found.add(items.lanes[items.lane[item]!]!.track);
  }
  marked.set(items, found);
  return found;
}

// Lanes of a stream that show activity; the others hold annotations and synchronisation records.
function activityLanes(page: PageDocument, items: Items, lanes: number[]): number {
  const activity = ['compute', 'communication', 'memory'];
  return lanes.filter((lane) => {
    const first = items.lanes[lane]!.first;
    return items.lanes[lane]!.count > 0 && activity.includes(page.timeline.shades[page.timeline.label_shades[items.label[first]!]!]!);
  }).length;
}

export function layRows(page: PageDocument, items: Items, ranks: number[], folding: Folding): { rows: Row[]; height: number } {
  const rows: Row[] = [];
  let y = 0;
  const push = (row: Omit<Row, 'y'>): void => {
    rows.push({ ...row, y });
    y += row.height;
  };
  const frame = page.timeline;
  const marks = markedTracks(page, items);
  for (const rank of ranks) {
    const tracks = frame.tracks.map((track, number) => ({ track, number })).filter(({ track }) => track.rank === rank);
    if (tracks.length === 0) continue;
    const prefix = ranks.length > 1 ? `${rankTitle(page, rank)} · ` : '';
    if ((frame.steps[rank]?.steps.length ?? 0) > 0) {
      push({ kind: 'steps', height: stepsHeight, title: `${prefix}Steps`, key: '', folded: false, rank, lane: -1, first: true, lanesHidden: 0 });
    }
    const group = (key: string, title: string, members: typeof tracks, device: string | undefined): void => {
      const isFolded = folding.folded.has(key);
      const common = device === undefined ? { rank } : { rank, device };
      push({ kind: 'group', height: groupHeight, title: prefix + title, key, folded: isFolded, lane: -1, first: true, lanesHidden: 0, ...common });
      if (isFolded) return;
      let openLanes = 0;
      for (const { track, number } of members) {
        const lanes = items.lanesOfTrack[number]!;
        const trackKey = `track${number}`;
        const many = openLanes > 0 && openLanes + lanes.length > most_open_lanes;
        // A folded stream shows its activity, a folded thread its outermost calls.
        const kept = track.kind === 'stream' ? Math.max(activityLanes(page, items, lanes), 1) : 1;
        const trackFolded = lanes.length > kept && (folding.folded.has(trackKey) || ((many || track.kind === 'stream') && !folding.opened.has(trackKey)));
        const shown = trackFolded ? lanes.slice(0, kept) : lanes;
        openLanes += shown.length;
        shown.forEach((lane, depth) => {
          push({
            kind: 'lane',
            height: track.kind === 'idle' ? idleHeight : track.kind === 'stream' ? laneHeight : threadLaneHeight,
            title: depth === 0 ? trackTitle(track).replace(/^thread (?=\d)/, '') : '',
            key: lanes.length > kept ? trackKey : '',
            folded: trackFolded,
            lane,
            first: depth === 0,
            lanesHidden: lanes.length - shown.length,
            ...common,
          });
        });
        y += 3;
      }
      y += 4;
    };
    const devices = [...new Set(tracks.filter(({ track }) => track.device !== undefined).map(({ track }) => track.device!))];
    devices.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    for (const device of devices) {
      const members = tracks.filter(({ track }) => track.device === device);
      const order = { idle: 0, stream: 1, thread: 2, other: 3 };
      members.sort((a, b) => order[a.track.kind] - order[b.track.kind] || (a.track.stream ?? 0) - (b.track.stream ?? 0));
      const gpu = page.findings.ranks[rank]?.devices.find((one) => one.device === device)?.gpu_reported ?? '';
      group(`device${rank}/${device}`, `GPU ${device}${gpu ? ` · ${gpu}` : ''}`, members, device);
    }
    const processes = [...new Set(tracks.filter(({ track }) => track.device === undefined).map(({ track }) => track.process ?? ''))];
    const slicesOf = (number: number): number => items.lanesOfTrack[number]!.reduce((sum, lane) => sum + items.lanes[lane]!.slices, 0);
    for (const process of processes) {
      const members = tracks.filter(({ track }) => track.device === undefined && (track.process ?? '') === process);
      // The thread that marks steps first, then by how much is on them.
      members.sort((a, b) => Number(marks.has(b.number)) - Number(marks.has(a.number)) || slicesOf(b.number) - slicesOf(a.number));
      const threads = members.some(({ track }) => track.kind === 'thread');
      group(`process${rank}/${process}`, threads ? `CPU · process ${visible(process)}` : visible(process) || 'Other rows', members, undefined);
    }
  }
  return { rows, height: y };
}
