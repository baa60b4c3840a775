// The one tooltip of the page.
import { h } from './dom.ts';

let tip: HTMLElement | null = null;

export function showTip(x: number, y: number, lines: (Node | string)[]): void {
  if (!tip) {
    tip = h('div', { class: 'tip', role: 'tooltip' });
    document.body.append(tip);
  }
  tip.replaceChildren(...lines);
  tip.style.display = 'block';
  const box = tip.getBoundingClientRect();
  const left = x + 14 + box.width > innerWidth - 8 ? Math.max(x - 14 - box.width, 8) : x + 14;
  const top = y + 18 + box.height > innerHeight - 8 ? Math.max(y - 12 - box.height, 8) : y + 18;
  tip.style.left = `${left}px`;
  tip.style.top = `${top}px`;
}

export function hideTip(): void {
  if (tip) tip.style.display = 'none';
}
