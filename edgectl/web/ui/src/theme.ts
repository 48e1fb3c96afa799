/// Light, dark, or as the system says. Kept in this browser.

export type Theme = 'auto' | 'light' | 'dark';

const kKey = 'edge-theme';

export function theme(): Theme {
  const kept = localStorage.getItem(kKey);
  return kept === 'light' || kept === 'dark' ? kept : 'auto';
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme();
}

export function setTheme(chosen: Theme): void {
  localStorage.setItem(kKey, chosen);
  applyTheme();
}
