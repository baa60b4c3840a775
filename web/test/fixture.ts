// A small timeline, encoded as src/report/timeline_columns.h says, for tests of what reads it.
import type { TimelineFrame, TrackFrame } from '../src/data/document.ts';

export interface FixtureItem { start: number; end: number; label: number; block?: { count: number; busy: number; longest: number; shade: number }; detail?: number; launch?: number; operation?: number }
export interface FixtureTrack { frame: Omit<TrackFrame, 'lanes'>; lanes: FixtureItem[][] }

function bytesOf(numbers: number[]): number[] {
  const bytes: number[] = [];
  for (let value of numbers) {
    while (value >= 0x80) {
      bytes.push((value % 0x80) + 0x80);
      value = Math.floor(value / 0x80);
    }
    bytes.push(value);
  }
  return [bytes.length & 255, (bytes.length >> 8) & 255, (bytes.length >> 16) & 255, bytes.length >>> 24, ...bytes];
}

export function encode(tracks: FixtureTrack[], labels: string[], shades: string[], labelShades: number[], details: string[] = []): { frame: TimelineFrame; bytes: Uint8Array } {
  const begin = Math.min(...tracks.flatMap((track) => track.lanes.flat().map((item) => item.start)));
  const end = Math.max(...tracks.flatMap((track) => track.lanes.flat().map((item) => item.end)));
  const columns: Record<'gaps' | 'durations' | 'labels' | 'runs' | 'blocks' | 'details' | 'launches' | 'operations', number[]> =
    { gaps: [], durations: [], labels: [], runs: [], blocks: [], details: [], launches: [], operations: [] };
  const last = new Map<number, number>();
  let run = 0, inBlocks = false, lastLaunch = 0, lastOperation = 0;
  const reference = (item: number | undefined, previous: number): number => {
    if (item === undefined) return 0;
    const difference = item - previous;
    return (difference >= 0 ? 2 * difference : -2 * difference - 1) + 1;
  };
  for (const track of tracks) {
    for (const lane of track.lanes) {
      let previous = begin;
      for (const item of lane) {
        columns.gaps.push(item.start - previous);
        columns.durations.push(item.end - item.start);
        columns.labels.push(item.label);
        previous = item.end;
        if ((item.block !== undefined) !== inBlocks) {
          columns.runs.push(run);
          run = 0;
          inBlocks = !inBlocks;
        }
        run++;
        if (item.block) {
          columns.blocks.push(item.block.count, item.block.busy, item.block.longest, item.block.shade);
          continue;
        }
        const detail = item.detail === undefined ? 1 : item.detail + 2;
        columns.details.push(detail === (last.get(item.label) ?? 1) ? 0 : detail);
        last.set(item.label, detail);
        if (track.frame.kind === 'stream') {
          columns.launches.push(reference(item.launch, lastLaunch));
          if (item.launch !== undefined) lastLaunch = item.launch;
          columns.operations.push(reference(item.operation, lastOperation));
          if (item.operation !== undefined) lastOperation = item.operation;
        }
      }
    }
  }
  columns.runs.push(run);
  const frame: TimelineFrame = {
    begin, end, slices_single: 0, slices_merged: 0, slices_left_out: 0, merged_below: 0, details_left_out: 0, whole: [[]],
    tracks: tracks.map((track) => ({ ...track.frame, lanes: track.lanes.map((lane) => [lane.length, lane.length, 0]) })),
    shades, labels, short_labels: labels.map(() => 0), label_shades: labelShades, details, steps: [], device_steps: [], critical_paths: [],
  };
  return { frame, bytes: Uint8Array.from(Object.values(columns).flatMap(bytesOf)) };
}
