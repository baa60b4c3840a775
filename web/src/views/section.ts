// Any section of the findings: its sentence, its figures, its tables, its caveats. Questions that this page has never heard of are shown by this alone.
import type { Section } from '../data/document.ts';
import { h } from '../dom.ts';
import { format } from '../format.ts';
import { type TableOptions, tableView } from '../table.ts';

export interface SectionOptions {
  tables?: Record<string, TableOptions>;   // by table key
  withoutTables?: string[];
  withoutFigures?: string[];
  withoutHeading?: boolean;
  onName?: (name: string) => void;
}

export function headingOf(section: Section): HTMLElement {
  return h('div', { class: 'heading' }, h('h2', {}, section.title), section.summary ? h('p', { class: 'summary' }, section.summary) : null);
}

export function figuresOf(section: Section, without: string[] = []): HTMLElement | null {
  const shown = section.figures.filter((figure) => !without.includes(figure.key));
  if (shown.length === 0) return null;
  return h('dl', { class: 'figures' }, shown.map((figure) => h('div', {},
    h('dt', {}, figure.title),
    h('dd', { class: typeof figure.value === 'string' ? 'text' : null, 'data-figure': figure.key }, format(figure.value, figure.unit)))));
}

export function caveatsOf(section: Section): HTMLElement | null {
  return section.caveats.length === 0 ? null : h('ul', { class: 'caveats' }, section.caveats.map((caveat) => h('li', {}, caveat)));
}

export function sectionParts(section: Section, options: SectionOptions = {}): HTMLElement[] {
  const parts: HTMLElement[] = [];
  const figures = figuresOf(section, options.withoutFigures);
  if (figures) parts.push(figures);
  for (const table of section.tables) {
    if ((options.withoutTables ?? []).includes(table.key) || table.rows.length === 0) continue;
    const named = section.tables.length > 1 || table.title !== section.title;
    const tableOptions = { ...(named ? { heading: table.title } : {}), ...(options.onName ? { onName: options.onName } : {}), ...options.tables?.[table.key] };
    parts.push(tableView(table, tableOptions).element);
  }
  const caveats = caveatsOf(section);
  if (caveats) parts.push(caveats);
  return parts;
}

export function sectionPanel(section: Section, options: SectionOptions = {}, ...before: (HTMLElement | SVGElement | null)[]): HTMLElement {
  return h('section', { class: 'panel long', 'data-section': section.key }, options.withoutHeading ? null : headingOf(section), before, sectionParts(section, options));
}
