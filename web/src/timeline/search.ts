// Finding slices by name: a text (any case), or /a regular expression/.
import type { PageDocument } from '../data/document.ts';
import type { Items } from '../data/items.ts';

export type Matcher = (name: string) => boolean;

// null = an empty search; an Error = not a regular expression.
export function matcher(text: string): Matcher | Error | null {
  if (text === '') return null;
  const expression = /^\/(.+)\/?$/.exec(text);
  if (expression && text.length > 2) {
    try {
      const pattern = new RegExp(expression[1]!.replace(/\/$/, ''), 'i');
      return (name) => pattern.test(name);
    } catch (problem) {
      return problem as Error;
    }
  }
  const wanted = text.toLowerCase();
  return (name) => name.toLowerCase().includes(wanted);
}

export interface Found {
  items: Uint32Array;    // ascending: by lane, then by start
  byStart: Uint32Array;  // the same, by start
}

// Single slices whose name or readable name matches, on tracks of the ranks in sight. Slices inside blocks have no names here.
export function find(page: PageDocument, items: Items, matches: Matcher, ranks: Set<number>): Found {
  const frame = page.timeline;
  const wanted = new Uint8Array(frame.labels.length);
  frame.labels.forEach((name, label) => {
    const short = frame.short_labels[label];
    if (matches(name) || (short && matches(short))) wanted[label] = 1;
  });
  const found: number[] = [];
  for (const lane of items.lanes) {
    const track = frame.tracks[lane.track]!;
    if (!ranks.has(track.rank) || track.kind === 'idle') continue;
    for (let item = lane.first; item < lane.first + lane.count; item++) {
      if (wanted[items.label[item]!] === 1 && items.block[item]! < 0) found.push(item);
    }
  }
  const ascending = Uint32Array.from(found);
  const byStart = Uint32Array.from(found).sort((a, b) => items.start[a]! - items.start[b]! || a - b);
  return { items: ascending, byStart };
}
