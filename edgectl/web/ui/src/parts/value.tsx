/// A value of an object as nested lists.
import type {Json} from '../api';

const isLeaf = (value: Json) => value === null || typeof value !== 'object';

export function Value({value}: {value: Json}) {
  if (value === null) return <code class="muted">null</code>;
  if (typeof value !== 'object') return <code>{String(value)}</code>;
  if (Array.isArray(value)) {
    if (value.length === 0) return <code class="muted">[]</code>;
    if (value.every(isLeaf)) {
      return <span class="leaves">{value.map((one, index) => <code key={index}>{String(one)}</code>)}</span>;
    }
    return <ol class="items">{value.map((one, index) => <li key={index}><Value value={one} /></li>)}</ol>;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return <code class="muted">{'{}'}</code>;
  return (
    <dl class="fields">
      {entries.map(([name, inner]) => (
        <div key={name} class={isLeaf(inner) || (Array.isArray(inner) && inner.every(isLeaf)) ? 'leaf' : ''}>
          <dt>{name}</dt>
          <dd><Value value={inner} /></dd>
        </div>
      ))}
    </dl>
  );
}
