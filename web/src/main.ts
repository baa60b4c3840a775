// The page: reads what the program put into it, draws the shell, and one view at a time.
import './theme.css';
import { type PageDocument, parseDocument } from './data/document.ts';
import { decodeItems } from './data/items.ts';
import { unpack } from './data/packed.ts';
import { h } from './dom.ts';
import { visible } from './format.ts';
import { showKeys } from './keys.ts';
import { type Choice, choiceTitle, choices, firstChoice, scopeOf, section } from './scope.ts';
import { startTheme, toggleTheme } from './theme.ts';
import { TimelineView } from './timeline/view.ts';
import { hideTip } from './tip.ts';
import { healthOf, healthView } from './views/health.ts';
import { overview } from './views/overview.ts';
import { type Actions, type View, viewsOf } from './views/views.ts';

class Page {
  private readonly names = h('nav', { class: 'names', 'aria-label': 'Views' });
  private readonly main = h('main', { class: 'view-holder' });
  private readonly timeline: TimelineView;
  private readonly timelineHolder: HTMLElement;
  private readonly holders = new Map<string, HTMLElement>();
  private chosen: Choice | undefined;
  private views: View[] = [];
  private current = 'overview';

  constructor(private readonly page: PageDocument) {
    this.chosen = firstChoice(page);
    this.timeline = new TimelineView(page);
    this.timelineHolder = h('section', { class: 'view', id: 'view-timeline', 'aria-label': 'Timeline', hidden: true }, this.timeline.element);
    const root = document.getElementById('page')!;
    root.replaceChildren(this.bar(), this.names, this.main);
    this.rescope();
    addEventListener('hashchange', () => this.open(location.hash.slice(1)));
    addEventListener('keydown', (event) => this.key(event));
    addEventListener('beforeprint', () => this.renderAll());
    this.open(location.hash.slice(1) || 'overview');
  }

  private bar(): HTMLElement {
    const files = this.page.meta.ranks;
    const title = files.length === 1 ? files[0]!.file : `${files.length} ranks`;
    document.title = `${title} · Stepscope`;
    const all = choices(this.page);
    const select = h('select', { class: 'field', 'aria-label': 'Rank and device' }, all.map((choice, i) => h('option', { value: i }, choiceTitle(this.page, choice))));
    select.addEventListener('change', () => this.choose(all[Number(select.value)]!));
    this.select = select;
    this.markSelected();
    const themeButton = h('button', { class: 'button square', type: 'button', title: 'Light or dark', 'aria-label': 'Switch between light and dark', id: 'theme' }, '◐');
    themeButton.addEventListener('click', toggleTheme);
    return h('header', { class: 'topbar' }, h('span', { class: 'product' }, 'Stepscope'), h('span', { class: 'file', title: visible(title) }, visible(title)), h('span', { class: 'grow' }),
      h('span', { class: 'controls' }, all.length > 1 ? select : null, themeButton, h('button', { class: 'button square', type: 'button', title: 'Keys (?)', 'aria-label': 'Show all keys', onclick: showKeys }, '?')));
  }
  private select: HTMLSelectElement | null = null;

  setItems(bytes: Uint8Array): void { this.timeline.setItems(decodeItems(bytes, this.page.timeline)); }
  failTimeline(problem: Error): void { this.timelineHolder.replaceChildren(h('p', { class: 'note' }, `The timeline could not be opened: ${problem.message}`)); }

  private choose(choice: Choice): void {
    this.chosen = choice;
    this.markSelected();
    this.rescope();
    this.open(this.current);
  }

  private markSelected(): void {
    if (this.select) this.select.value = String(choices(this.page).findIndex((one) => one.rank === this.chosen?.rank && one.device === this.chosen?.device));
  }

  private rescope(): void {
    const scope = scopeOf(this.page, this.chosen);
    this.views = [
      { key: 'overview', title: 'Overview', render: () => this.overview() },
      { key: 'timeline', title: 'Timeline', render: () => null },
      ...viewsOf(scope),
      { key: 'health', title: 'Capture health', render: healthView },
    ];
    this.holders.clear();
    this.main.replaceChildren();
    for (const view of this.views) {
      const holder = view.key === 'timeline' ? this.timelineHolder : h('section', { class: 'view', id: `view-${view.key}`, 'aria-label': view.title, hidden: true });
      this.holders.set(view.key, holder);
      this.main.append(holder);
    }
    this.names.replaceChildren(...this.views.flatMap((view) => {
      const link = h('a', { href: `#${view.key}`, 'data-view': view.key }, view.title);
      return view.key === 'timeline' || (view.key === 'health' && this.views.length > 3) ? (view.key === 'health' ? [h('span', { class: 'rule' }), link] : [link, h('span', { class: 'rule' })]) : [link];
    }));
    this.timeline.setScope(scope.timelineRank, scope.device?.device);
  }

  private overview(): HTMLElement {
    const scope = scopeOf(this.page, this.chosen);
    return overview(scope, {
      open: (view) => this.open(view), choose: (choice) => this.choose(choice), chosen: this.chosen, ...this.actions, health: healthOf(section(scope, 'health')),
    });
  }

  private readonly actions: Actions = {
    findInTimeline: (name) => {
      location.hash = '#timeline';
      this.open('timeline');
      this.timeline.search(name);
      this.timeline.nextMatch(1);
    },
    showStep: (step) => {
      location.hash = '#timeline';
      this.open('timeline');
      this.timeline.showStep(step);
    },
  };

  private render(view: View): void {
    const holder = this.holders.get(view.key)!;
    if (view.key === 'timeline' || holder.childElementCount > 0) return;
    const content = view.render(scopeOf(this.page, this.chosen), this.actions);
    holder.append(content ?? h('p', { class: 'note' }, 'Nothing to show for this device.'));
  }
  private renderAll(): void { for (const view of this.views) this.render(view); this.timeline.drawNow(); }

  open(wanted: string): void {
    const view = this.views.find((one) => one.key === wanted) ?? this.views[0]!;
    this.current = view.key;
    hideTip();
    for (const [key, holder] of this.holders) holder.hidden = key !== view.key;
    for (const link of this.names.querySelectorAll('a')) {
      if (link.dataset['view'] === view.key) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    this.render(view);
    scrollTo(0, 0);
    if (view.key === 'timeline') {
      this.timeline.drawNow();
      this.timeline.focusCanvas();
    }
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (target.closest('input, textarea, select') || document.querySelector('dialog[open]')) return;
    if (this.current === 'timeline' && this.timeline.key(event)) {
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '?') showKeys();
    else if (event.key === 't') toggleTheme();
    else if (event.key === '[' || event.key === ']') {
      const at = this.views.findIndex((view) => view.key === this.current) + (event.key === ']' ? 1 : -1);
      const next = this.views[(at + this.views.length) % this.views.length]!;
      location.hash = `#${next.key}`;
    } else if (/^[1-9]$/.test(event.key)) {
      const view = this.views[Number(event.key) - 1];
      if (view) location.hash = `#${view.key}`;
    } else if (event.key === '/') {
      (this.holders.get(this.current)?.querySelector('input[type=search]') as HTMLElement | null)?.focus();
    } else return;
    event.preventDefault();
  }
}

async function start(): Promise<void> {
  startTheme();
  const text = document.getElementById('stepscope-document')!.textContent ?? '';
  const page = new Page(parseDocument(new TextDecoder().decode(await unpack(text))));
  performance.mark('stepscope-overview');
  document.documentElement.dataset['ready'] = 'overview';
  const parsed = document.readyState !== 'loading' ? Promise.resolve() : new Promise<void>((resolve) => addEventListener('DOMContentLoaded', () => resolve(), { once: true }));
  await parsed;
  try {
    page.setItems(await unpack(document.getElementById('stepscope-columns')!.textContent ?? ''));
  } catch (problem) {
    page.failTimeline(problem as Error);
  }
  performance.mark('stepscope-timeline');
  document.documentElement.dataset['ready'] = 'timeline';
}

start().catch((problem: unknown) => {
  document.getElementById('page')!.replaceChildren(h('p', { class: 'boot' }, `This report cannot be opened: ${problem instanceof Error ? problem.message : String(problem)}`));
  document.documentElement.dataset['ready'] = 'failed';
});
