// What the program put into the page: see src/report/page_document.h.

export type Unit =
  | 'none' | 'count' | 'nanoseconds' | 'bytes' | 'memory_bytes' | 'bytes_per_second' | 'flops' | 'flops_per_second' | 'ratio' | 'flops_per_byte';

export type Value = null | number | string | boolean;

export interface Figure { key: string; title: string; unit: Unit; value: Value }
export interface Column { key: string; title: string; unit: Unit; in_text: boolean }
export interface Table { key: string; title: string; columns: Column[]; rows: Value[][]; rows_total: number }
export interface Section {
  key: string;
  title: string;
  summary: string;
  prominence: number;
  figures: Figure[];
  tables: Table[];
  caveats: string[];
}
export interface DeviceFindings { device: string; gpu: string; gpu_reported: string; sections: Section[] }
export interface RankFindings { rank: number; file: string; sections: Section[]; devices: DeviceFindings[] }
export interface Findings { sections: Section[]; ranks: RankFindings[] }

export interface GpuPeaks { title: string; memory_bytes_per_second?: number; memory_bytes?: number; [rate: string]: number | string | undefined }
export interface Meta {
  version: string;
  events: number;
  bytes: number;
  slices: number;
  read_seconds: number;
  analysis_seconds: number;
  ranks: { rank: number; file: string; world_size: number; producer: string; events: number; bytes: number }[];
  gpus: Record<string, GpuPeaks>;
  opens_on?: [rank: number, device: number];   // indices into the findings: the slowest device, which the terminal page shows too
}

export type TrackKind = 'stream' | 'idle' | 'thread' | 'other';
export interface TrackFrame {
  kind: TrackKind;
  rank: number;      // index into meta.ranks
  device?: string;
  process?: string;
  thread?: string;
  label?: string;
  stream?: number;
  sort?: number;
  lanes: [items: number, slices: number, busy: number][];
}
export interface RankSteps { source: string; found_by: string; steps: [number: number, begin: number, end: number, outlier: number][] }
export interface DeviceSteps { rank: number; device: string; steps: [number: number, begin: number, end: number][] }
// The chain of work and waiting that a step's window on a device is made of, by time: along which track, from when to when, 1 where it waits there.
export interface CriticalPathFrame { rank: number; device: string; step?: number; begin: number; end: number; stretches: [track: number, begin: number, end: number, waits: number][] }
export interface TimelineFrame {
  begin: number;
  end: number;
  slices_single: number;
  slices_merged: number;
  slices_left_out: number;
  merged_below: number;
  details_left_out: number;
  whole: [number, number][][];
  tracks: TrackFrame[];
  shades: string[];
  labels: string[];
  short_labels: (string | 0)[];
  label_shades: number[];
  details: string[];
  steps: RankSteps[];
  device_steps: DeviceSteps[];
  critical_paths: CriticalPathFrame[];
}
export interface PageDocument { schema: string; meta: Meta; verdict: string[]; findings: Findings; timeline: TimelineFrame }

// As it travels: sections in one list that their owners name by number, long texts in another.
type Packed = PageDocument & { sections: Section[]; strings: string[] };

// Puts shared texts back where a cell names one of them as [n].
export function parseDocument(text: string): PageDocument {
  const raw = JSON.parse(text) as Packed;
  if (raw.schema !== 'stepscope.page/1') throw new Error(`This page cannot read data of schema "${raw.schema}"`);
  const strings = raw.strings;
  const whole = (cells: unknown[]): void => {
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      if (Array.isArray(cell)) cells[i] = strings[cell[0] as number] ?? '';
    }
  };
  for (const section of raw.sections) {
    for (const figure of section.figures) {
      if (Array.isArray(figure.value)) figure.value = strings[(figure.value as unknown as number[])[0]!] ?? '';
    }
    for (const table of section.tables) table.rows.forEach(whole);
  }
  const taken = (owner: { sections: unknown }): void => { owner.sections = (owner.sections as number[]).map((number) => raw.sections[number]!); };
  taken(raw.findings);
  for (const rank of raw.findings.ranks) {
    taken(rank);
    rank.devices.forEach(taken);
  }
  whole(raw.timeline.labels);
  return raw;
}

export function findSection(sections: Section[], key: string): Section | undefined {
  return sections.find((section) => section.key === key);
}
export function figureNumber(section: Section | undefined, key: string): number | null {
  const value = section?.figures.find((figure) => figure.key === key)?.value;
  return typeof value === 'number' ? value : null;
}
export function findTable(section: Section | undefined, key?: string): Table | undefined {
  if (!section) return undefined;
  return key === undefined ? section.tables[0] : section.tables.find((table) => table.key === key);
}
// The place of a column in a table's rows; -1 = the table has none of that key.
export function columnIndex(table: Table, ...keys: string[]): number {
  for (const key of keys) {
    const found = table.columns.findIndex((column) => column.key === key);
    if (found >= 0) return found;
  }
  return -1;
}
