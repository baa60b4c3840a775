// Capture health: what was repaired, dropped, or missing in the input, before anybody trusts a figure.
import type { Section } from '../data/document.ts';
import { h } from '../dom.ts';
import { grouped } from '../format.ts';
import { type Scope, section } from '../scope.ts';
import { tableView } from '../table.ts';
import { sectionPanel } from './section.ts';

export interface Health { level: 'good' | 'warn' | 'bad'; text: string }

export function healthOf(found: Section | undefined): Health {
  const rows = (key: string): number => found?.tables.find((table) => table.key === key)?.rows_total ?? 0;
  const repairs = rows('repairs'), missing = rows('missing');
  if (repairs > 0) return { level: 'bad', text: `Input repaired: ${grouped(repairs)} ${repairs === 1 ? 'kind' : 'kinds'} of damage` };
  if (missing > 0) return { level: 'warn', text: `${grouped(missing)} ${missing === 1 ? 'kind of record is' : 'kinds of record are'} missing` };
  return { level: 'good', text: 'Capture clean' };
}

export function healthView(scope: Scope): HTMLElement {
  const found = section(scope, 'health');
  const ranks = scope.page.meta.ranks;
  return h('div', {},
    found ? sectionPanel(found) : h('section', { class: 'panel' }, h('h2', {}, 'Capture health'), h('p', { class: 'note' }, 'Nothing was repaired and nothing is known to be missing.')),
    h('section', { class: 'panel' }, h('h2', { class: 'heading' }, 'Input'), tableView({
      key: 'input', title: 'Input', rows_total: ranks.length,
      columns: [{ key: 'rank', title: 'Rank', unit: 'none', in_text: true }, { key: 'file', title: 'File', unit: 'none', in_text: true }, { key: 'format', title: 'Format', unit: 'none', in_text: true },
        { key: 'bytes', title: 'Size', unit: 'bytes', in_text: true }, { key: 'events', title: 'Events', unit: 'count', in_text: true }],
      rows: ranks.map((rank) => [rank.rank, rank.file, rank.producer, rank.bytes, rank.events]),
    }).element));
}
