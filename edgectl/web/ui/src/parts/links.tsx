/// Links to objects, by what is known of them.
import {objectPath, partPath} from '../router';
import type {Use} from '../views';

export const fullName = (of: {namespace: string; name: string}): string => (of.namespace === '' ? of.name : `${of.namespace}/${of.name}`);

export function UseLink({of, label}: {of: Use; label?: string}) {
  const text = label ?? fullName(of);
  return of.plural === '' ? <span>{text}</span> : <a href={objectPath(of.plural, of.namespace, of.name)}>{text}</a>;
}

/// Of a route, gateway or backend of which only `namespace/name` is known.
export function NamedLink({part, name}: {part: 'route' | 'gateway' | 'backend'; name: string}) {
  return name.includes('/') ? <a href={partPath(part, name)}>{name}</a> : <span class="muted">{name === '' ? '–' : name}</span>;
}

/// The first of many, and how many more there are.
export function Few<T>({items, most, children}: {items: T[]; most: number; children: (item: T) => preact.ComponentChildren}) {
  if (items.length === 0) return <span class="muted">–</span>;
  return (
    <span class="few">
      {items.slice(0, most).map((item, index) => <span key={index}>{children(item)}</span>)}
      {items.length > most && <span class="muted">+{items.length - most}</span>}
    </span>
  );
}
