// Light or dark: as the system says, until the reader chooses. The choice is kept for the session's page only; a report opened from a file has no storage
// that all browsers allow.

export type Theme = 'light' | 'dark';
type Listener = () => void;

const preference = matchMedia('(prefers-color-scheme: dark)');
const listeners: Listener[] = [];
let chosen: Theme | null = null;

export function theme(): Theme {
  return chosen ?? (preference.matches ? 'dark' : 'light');
}

function apply(): void {
  document.documentElement.dataset['theme'] = theme();
  for (const listener of listeners) listener();
}

export function startTheme(): void {
  document.documentElement.dataset['theme'] = theme();
  preference.addEventListener('change', apply);
  // Paper is white: printing is always light.
  addEventListener('beforeprint', () => {
    document.documentElement.dataset['theme'] = 'light';
    for (const listener of listeners) listener();
  });
  addEventListener('afterprint', apply);
}

export function toggleTheme(): void {
  chosen = theme() === 'dark' ? 'light' : 'dark';
  apply();
}

export function onThemeChange(listener: Listener): void {
  listeners.push(listener);
}

// A colour of the current theme by its name in theme.css: "compute", "line".
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
