/// Pages by path, their state by query: every view has an address of its own.
import {useEffect, useState} from 'preact/hooks';

export interface Location {
  path: string;
  query: URLSearchParams;
}

const listeners = new Set<() => void>();

function here(): Location {
  return {path: window.location.pathname, query: new URLSearchParams(window.location.search)};
}

function changed(): void {
  for (const listener of [...listeners]) listener();
}

export function navigate(to: string, replace = false): void {
  if (replace) {
    history.replaceState(null, '', to);
  } else {
    history.pushState(null, '', to);
  }
  changed();
}

/// Sets members of the query; empty values leave it. Replaces the entry of the history, so that "back" leaves the page.
export function setQuery(changes: Record<string, string>): void {
  const query = new URLSearchParams(window.location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  navigate(window.location.pathname + (text === '' ? '' : `?${text}`), true);
}

export function useLocation(): Location {
  const [location, set] = useState(here);
  useEffect(() => {
    const update = () => set(here());
    listeners.add(update);
    return () => {
      listeners.delete(update);
    };
  }, []);
  return location;
}

/// The path alone: what shows nothing of the query is not drawn again with each key of a filter.
export function usePath(): string {
  const [path, set] = useState(() => window.location.pathname);
  useEffect(() => {
    const update = () => set(window.location.pathname);
    update();
    listeners.add(update);
    return () => {
      listeners.delete(update);
    };
  }, []);
  return path;
}

/// Links within the page are followed without loading it again.
export function followLinks(): void {
  window.addEventListener('popstate', changed);
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest('a');
    if (!link || link.origin !== window.location.origin || link.target !== '' || link.pathname.startsWith('/api/')) return;
    if (link.hash !== '' && link.pathname === window.location.pathname) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}

/// The page of an object of which only its part in routing is known: routes come from several kinds.
export function partPath(part: 'route' | 'gateway' | 'backend', name: string): string {
  return `/find/${part}/${name.split('/').map(encodeURIComponent).join('/')}`;
}

export function objectPath(plural: string, namespace: string, name: string): string {
  const parts = namespace === '' ? [plural, name] : [plural, namespace, name];
  return `/objects/${parts.map(encodeURIComponent).join('/')}`;
}

export function editPath(plural: string, namespace: string, name: string, what: 'edit' | 'delete' = 'edit'): string {
  return objectPath(plural, namespace, name).replace('/objects/', `/${what}/`);
}

/// A request to be explained.
export interface Asked {
  request: string;
  headers?: string[];
  claims?: string[];
  source?: string;
  port?: string;
  program?: string;
}

export function explainPath(asked: Asked): string {
  const query = new URLSearchParams({request: asked.request});
  for (const header of asked.headers ?? []) query.append('header', header);
  for (const claim of asked.claims ?? []) query.append('claim', claim);
  for (const name of ['source', 'port', 'program'] as const) {
    const value = asked[name] ?? '';
    if (value !== '') query.set(name, value);
  }
  return `/explain?${query}`;
}
