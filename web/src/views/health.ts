// Capture health: what was repaired, dropped, or missing in the input, before anybody trusts a figure.
import type { Section } from '../data/document.ts';
import { h } from '../dom.ts';
import { grouped } from '../format.ts';
import { type Scope, section } from '../scope.ts';
import { sectionPanel } from './section.ts';

export interface Health { level: 'good' | 'warn' | 'bad'; text: string }

export function healthOf(found: Section | undefined): Health {
  const rows = (key: string): number => found?.tables.find((table) => table.key === key)?.rows_total ?? 0;
  const repairs = rows('repairs'), missing = rows('missing');
  if (repairs > 0) return { level: 'bad', text: `Input repaired: ${grouped(repairs)} ${repairs === 1 ? 'kind' : 'kinds'} of damage` };
  if (missing > 0) return { level: 'warn', text: `${grouped(missing)} ${missing === 1 ? 'kind of record is' : 'kinds of record are'} missing` };
  return { level: 'good', text: 'Capture sound' };
}

export function healthView(scope: Scope): HTMLElement {
  const found = section(scope, 'health');
  const ranks = scope.page.meta.ranks;
  return h('div', {},
    found ? sectionPanel(found) : h('section', { class: 'panel' }, h('h2', {}, 'Capture health'), h('p', { class: 'note' }, 'Nothing was repaired and nothing is known to be missing.')),
    h('section', { class: 'panel' }, h('h2', { class: 'heading' }, 'Input'), h('table', { class: 'data' },
      h('thead', {}, h('tr', {}, ['Rank', 'File', 'Format', 'Events'].map((title, i) => h('th', { scope: 'col', class: i === 3 ? 'number' : null }, h('span', { class: 'plain-head' }, title))))),
      h('tbody', {}, ranks.map((rank) => h('tr', {}, h('td', {}, String(rank.rank)), h('td', { class: 'text' }, h('div', { class: 'cell' }, rank.file)), h('td', {}, rank.producer), h('td', { class: 'number' }, grouped(rank.events))))))));
}
