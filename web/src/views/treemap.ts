// A treemap: areas as shares of a whole, squarified (Bruls, Huizing, van Wijk 2000: rows of tiles as near to squares as they get).
import { h } from '../dom.ts';
import { duration, percent, visible } from '../format.ts';
import { hideTip, showTip } from '../tip.ts';

export interface Tile { name: string; value: number; group: string; detail?: string }
interface Box { x: number; y: number; width: number; height: number }

export function squarify(values: number[], box: Box): Box[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  const result: Box[] = [];
  if (total <= 0) return values.map(() => ({ x: box.x, y: box.y, width: 0, height: 0 }));
  const area = (box.width * box.height) / total;
  let { x, y, width, height } = box;
  let first = 0;
  while (first < values.length) {
    const side = Math.min(width, height);
    // Adds tiles to the row as long as its worst ratio of sides gets better.
    const worst = (last: number): number => {
      const row = values.slice(first, last + 1).map((value) => value * area);
      const sum = row.reduce((a, b) => a + b, 0);
      return Math.max(...row.map((one) => Math.max((side * side * one) / (sum * sum), (sum * sum) / (side * side * Math.max(one, 1e-9)))));
    };
    let last = first;
    while (last + 1 < values.length && worst(last + 1) <= worst(last)) last++;
    const sum = values.slice(first, last + 1).reduce((a, b) => a + b, 0) * area;
    const thickness = side > 0 ? sum / side : 0;
    let along = 0;
    for (let i = first; i <= last; i++) {
      const length = thickness > 0 ? (values[i]! * area) / thickness : 0;
      result.push(width >= height ? { x, y: y + along, width: thickness, height: length } : { x: x + along, y, width: length, height: thickness });
      along += length;
    }
    if (width >= height) {
      x += thickness;
      width -= thickness;
    } else {
      y += thickness;
      height -= thickness;
    }
    first = last + 1;
  }
  return result;
}

// Each group (category) gets a tint of its own; tints are fixed by the group's place in groups.
export function treemap(tiles: Tile[], groups: string[], onTile?: (name: string) => void): HTMLElement {
  const shown = tiles.filter((tile) => tile.value > 0).sort((a, b) => b.value - a.value).slice(0, 80);
  const total = tiles.reduce((sum, tile) => sum + tile.value, 0);
  const boxes = squarify(shown.map((tile) => tile.value), { x: 0, y: 0, width: 1000, height: 320 });
  return h('div', { class: 'treemap', role: 'list', 'aria-label': 'Operators by device time' }, shown.map((tile, i) => {
    const box = boxes[i]!;
    const percentOf = (value: number, whole: number): string => `${((100 * value) / whole).toFixed(3)}%`;
    const label = `${tile.name}: ${duration(tile.value)}, ${percent(tile.value / total)}`;
    const element = h('div', {
      role: 'listitem', 'aria-label': label,
      style: { left: percentOf(box.x, 1000), top: percentOf(box.y, 320), width: percentOf(box.width, 1000), height: percentOf(box.height, 320), background: `var(--tint${groups.includes(tile.group) ? groups.indexOf(tile.group) % 13 : 11})` },
      onmousemove: (event: MouseEvent) => showTip(event.clientX, event.clientY, [h('b', {}, visible(tile.name)), h('div', {}, `${duration(tile.value)} · ${percent(tile.value / total)}`), h('div', { class: 'quiet' }, [tile.group, tile.detail].filter(Boolean).join(' · '))]),
      onmouseleave: hideTip,
      onclick: () => onTile?.(tile.name),
    }, box.width > 46 && box.height > 18 ? h('b', {}, visible(tile.name)) : null, box.width > 64 && box.height > 36 ? h('span', {}, `${duration(tile.value)} · ${percent(tile.value / total)}`) : null);
    if (onTile) element.style.cursor = 'pointer';
    return element;
  }));
}
