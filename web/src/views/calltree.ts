// The call tree: rows with the number of their parent's row, opened level by level. The path of the largest device time is open at first.
import { columnIndex, type Table, type Value } from '../data/document.ts';
import { h } from '../dom.ts';
import { ColumnFormat, visible } from '../format.ts';

const most_children = 60;

export function callTree(table: Table, onName?: (name: string) => void): HTMLElement | null {
  const name = columnIndex(table, 'name', 'operator', 'call'), parent = columnIndex(table, 'parent');
  if (name < 0 || parent < 0) return null;
  const rowOf = columnIndex(table, 'row', 'index');
  const place = new Map<unknown, number>();
  table.rows.forEach((row, i) => place.set(rowOf >= 0 ? row[rowOf] : i, i));
  const children = new Map<number, number[]>();
  table.rows.forEach((row, i) => {
    const above = place.get(row[parent]) ?? -1;
    const key = above === i ? -1 : above;
    children.set(key, [...(children.get(key) ?? []), i]);
  });
  const shown = ['calls', 'cpu_total_ns', 'cpu_own_ns', 'device_total_ns'].map((key) => columnIndex(table, key)).filter((i) => i >= 0);
  const weight = columnIndex(table, 'device_total_ns');
  const cpu = columnIndex(table, 'cpu_total_ns');
  const number = (row: Value[], i: number): number => (typeof row[i] === 'number' ? (row[i] as number) : 0);
  const order = (all: number[]): number[] => [...all].sort((a, b) => number(table.rows[b]!, weight) - number(table.rows[a]!, weight) || number(table.rows[b]!, cpu) - number(table.rows[a]!, cpu));
  const formats = table.columns.map((column, i) => new ColumnFormat(column.unit, table.rows.map((row) => row[i])));

  const tree = h('div', { class: 'tree', role: 'tree', 'aria-label': table.title });
  tree.append(h('div', { class: 'row head', 'aria-hidden': 'true' }, h('span', {}, 'Call'), shown.map((i) => h('span', {}, table.columns[i]!.title, formats[i]!.unitName ? `, ${formats[i]!.unitName}` : ''))));

  const add = (parentElement: HTMLElement, index: number, depth: number, open: boolean): void => {
    const row = table.rows[index]!;
    const below = order(children.get(index) ?? []);
    const group = h('div', { role: 'group' });
    const twist = h('button', { class: 'twist', type: 'button', 'aria-label': 'Open or close', tabindex: below.length > 0 ? 0 : -1 }, below.length > 0 ? '▸' : '');
    let opened = false;
    const item = h('div', { role: 'treeitem', 'aria-level': depth + 1, 'aria-expanded': below.length > 0 ? 'false' : null });
    const setOpen = (wanted: boolean, first: boolean): void => {
      opened = wanted;
      twist.textContent = wanted ? '▾' : '▸';
      item.setAttribute('aria-expanded', String(wanted));
      group.replaceChildren();
      if (!wanted) return;
      below.slice(0, most_children).forEach((child, i) => add(group, child, depth + 1, first && i === 0 && number(table.rows[child]!, weight) * 2 > number(row, weight)));
      if (below.length > most_children) group.append(h('div', { class: 'note', style: { 'padding-left': `${(depth + 1) * 14 + 20}px` } }, `and ${below.length - most_children} smaller ones`));
    };
    const text = visible(String(row[name] ?? ''));
    const label = onName ? h('button', { class: 'linkish plain', type: 'button', title: `Find ${text} in the timeline`, onclick: () => onName(String(row[name] ?? '')) }, text) : h('span', { title: text }, text);
    item.append(h('div', { class: 'row' }, h('span', { class: 'name', style: { 'padding-left': `${depth * 14}px` } }, twist, label), shown.map((i) => h('span', {}, formats[i]!.cell(row[i])))), group);
    twist.addEventListener('click', () => { if (below.length > 0) setOpen(!opened, false); });
    parentElement.append(item);
    if (open && below.length > 0 && depth < 24) setOpen(true, true);
  };
  const roots = order(children.get(-1) ?? []);
  roots.slice(0, most_children).forEach((root, i) => add(tree, root, 0, i === 0));
  return tree;
}
