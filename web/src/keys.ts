// The list of keys.
import { h } from './dom.ts';

const keys: [group: string, rows: [keys: string[], what: string][]][] = [
  ['Everywhere', [
    [['1', '…', '9'], 'open a view by its place'],
    [['[', ']'], 'previous, next view'],
    [['/'], 'filter or search'],
    [['T'], 'light or dark'],
    [['?'], 'this list'],
  ]],
  ['Timeline', [
    [['W', 'S'], 'zoom in, out (also + and −, and the wheel)'],
    [['A', 'D'], 'move left, right (also the arrow keys, Shift + wheel, or drag)'],
    [['↑', '↓'], 'scroll the rows (also Alt + wheel)'],
    [[',', '.'], 'select the slice before, after'],
    [['U'], 'select what encloses the selected slice'],
    [['L'], 'go from a kernel to its launch, from a call to what it launched'],
    [['F'], 'zoom to the selected slice (also double click)'],
    [['P'], 'critical path on or off'],
    [['E', 'Shift E'], 'next, previous step'],
    [['N', 'Shift N'], 'next, previous match of the search'],
    [['0'], 'show everything'],
    [['Shift', 'drag'], 'mark a stretch and zoom to it (also a drag on the ruler)'],
  ]],
];

export function showKeys(): void {
  const close = h('button', { class: 'button', type: 'button' }, 'Close');
  const dialog = h('dialog', { 'aria-label': 'Keys' }, h('h2', {}, 'Keys'), h('div', { class: 'keys' }, keys.flatMap(([group, rows]) => [
    h('div', { class: 'group' }, group),
    ...rows.flatMap(([names, what]) => [h('span', {}, names.map((name) => [h('kbd', {}, name), ' '])), h('span', {}, what)]),
  ])), h('p', { class: 'dialog-end' }, close));
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
  document.body.append(dialog);
  dialog.showModal();
}
