// Where a device's time went: METRICS.md's partition of a window into compute, exposed communication, exposed copies and idle.
import { columnIndex, type Section, type Table, type Value, figureNumber } from '../data/document.ts';
import type { Part } from './bars.ts';

const partition: [key: string, title: string, shade: string][] = [
  ['compute_ns', 'Compute', 'compute'],
  ['exposed_communication_ns', 'Exposed communication', 'communication'],
  ['exposed_memory_ns', 'Exposed copies', 'memory'],
  ['idle_ns', 'Idle', 'idle'],
];

export interface Breakdown { span: number; parts: Part[] }

export function breakdownOfFigures(section: Section | undefined): Breakdown | undefined {
  const span = figureNumber(section, 'span_ns');
  if (span === null) return undefined;
  return { span, parts: partition.map(([key, title, shade]) => ({ key, title, shade, value: figureNumber(section, key) ?? 0 })) };
}

export function breakdownOfRow(table: Table, row: Value[]): Breakdown | undefined {
  const number = (key: string): number | undefined => {
    const value = row[columnIndex(table, key)];
    return typeof value === 'number' ? value : undefined;
  };
  const span = number('span_ns');
  if (span === undefined) return undefined;
  return { span, parts: partition.map(([key, title, shade]) => ({ key, title, shade, value: number(key) ?? 0 })) };
}

export function isOutlier(table: Table, row: Value[]): boolean {
  const value = row[columnIndex(table, 'outlier')];
  return value !== null && value !== undefined && value !== false && value !== '';
}

// The mean step: of the steps that are no outliers, or of all where there are no others.
export function meanBreakdown(table: Table): (Breakdown & { steps: number; steady: boolean }) | undefined {
  const steady = table.rows.filter((row) => !isOutlier(table, row));
  const rows = steady.length > 0 ? steady : table.rows;
  const all = rows.map((row) => breakdownOfRow(table, row)).filter((one) => one !== undefined);
  if (all.length === 0) return undefined;
  const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    span: mean(all.map((one) => one.span)),
    parts: partition.map(([key, title, shade], i) => ({ key, title, shade, value: mean(all.map((one) => one.parts[i]!.value)) })),
    steps: all.length,
    steady: steady.length > 0,
  };
}

const causes: [key: string, shade: string][] = [
  ['host_ns', 'idle_host'], ['launch_ns', 'idle_launch'], ['scheduling_ns', 'idle_scheduling'], ['dependency_ns', 'idle_dependency'], ['graph_ns', 'idle_graph'],
  ['unknown_ns', 'idle_unknown'], ['unlinked_ns', 'idle_unlinked'],
];

export function idleParts(section: Section | undefined): Part[] {
  return causes.flatMap(([key, shade]) => {
    const figure = section?.figures.find((one) => one.key === key);
    return figure && typeof figure.value === 'number' ? [{ key, title: figure.title, value: figure.value, shade }] : [];
  });
}
