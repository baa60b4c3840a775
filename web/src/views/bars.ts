// Stacked bars of a partition, with a legend that carries the figures.
import { h } from '../dom.ts';
import { duration, percent } from '../format.ts';
import { hideTip, showTip } from '../tip.ts';

export interface Part { key: string; title: string; value: number; shade: string }

export function stack(parts: Part[], total: number, label: string, tall = false): HTMLElement {
  const text = parts.map((part) => `${part.title} ${percent(total > 0 ? part.value / total : 0)}`).join(', ');
  return h('div', { class: tall ? 'stack tall' : 'stack', role: 'img', 'aria-label': `${label}: ${text}` }, parts.filter((part) => part.value > 0).map((part) =>
    h('span', {
      style: { flex: `${part.value} 0 0`, background: `var(--${part.shade})` },
      onmousemove: (event: MouseEvent) => showTip(event.clientX, event.clientY, [h('b', {}, part.title), h('div', {}, `${duration(part.value)} · ${percent(total > 0 ? part.value / total : 0)}`)]),
      onmouseleave: hideTip,
    })));
}

export function legend(parts: Part[], total: number): HTMLElement {
  return h('div', { class: 'legend' }, parts.filter((part) => part.value > 0).map((part) => h('span', { class: 'entry', 'data-part': part.key },
    h('span', { class: 'swatch', style: { background: `var(--${part.shade})` } }), `${part.title} `, h('b', {}, percent(total > 0 ? part.value / total : 0)), duration(part.value))));
}
