/// A table that is sorted by its heads and draws the rows that are seen alone: thousands of rows cost what a screen of
/// them costs.
import type {ComponentChildren, JSX} from 'preact';
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';

export interface Column<T> {
  id: string;
  head: string;
  /// Of the row alone, and of what is the same as long as the columns are: a row is drawn once.
  cell: (row: T) => ComponentChildren;
  value: (row: T) => string | number;
  numeric?: boolean;
  grow?: boolean;
  wide?: boolean;
}

export interface Sort {
  by: string;
  down: boolean;
}

export const readSort = (text: string | null, otherwise: string): Sort =>
  text ? {by: text.replace(/^-/, ''), down: text.startsWith('-')} : {by: otherwise.replace(/^-/, ''), down: otherwise.startsWith('-')};
export const writeSort = (sort: Sort): string => (sort.down ? '-' : '') + sort.by;

/// Of more rows those that are seen are drawn; until there are few again, since drawing those that a filter leaves takes
/// longer than the filter.
const kAllDrawn = 120;
const kFew = 30;
const kBeyond = 15;
const classOf = (column: {numeric?: boolean; grow?: boolean; wide?: boolean}) =>
  [column.numeric ? 'number' : '', column.grow ? 'grow' : '', column.wide ? 'wide-column' : ''].join(' ').trim();
const collator = new Intl.Collator('en', {numeric: true});

export function sorted<T>(rows: T[], columns: Column<T>[], sort: Sort): T[] {
  const column = columns.find((one) => one.id === sort.by);
  if (!column) return rows;
  const keyed = rows.map((row) => ({row, key: column.value(row)}));
  keyed.sort((a, b) => {
    const less = typeof a.key === 'number' && typeof b.key === 'number' ? a.key - b.key : collator.compare(String(a.key), String(b.key));
    return sort.down ? -less : less;
  });
  return keyed.map((one) => one.row);
}

export function Table<T extends object>({label, columns, rows, keyOf, sort, inOrder = false, onSort}: {
  label: string;
  columns: Column<T>[];
  rows: T[];
  keyOf: (row: T) => string;
  sort?: Sort;
  /// `rows` are sorted already.
  inOrder?: boolean;
  onSort?: (sort: Sort) => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [seen, look] = useState({from: 0, to: kAllDrawn});
  const height = useRef(28);
  const ordered = useMemo(() => (sort && !inOrder ? sorted(rows, columns, sort) : rows), [rows, sort?.by, sort?.down]);
  const many = useRef(false);
  many.current = ordered.length > (many.current ? kFew : kAllDrawn);
  const windowed = many.current;
  /// A row that is where it was is not drawn again; its cells are made from it and the columns alone.
  const drawn = useMemo(() => new WeakMap<object, {at: number; row: JSX.Element}>(), [columns]);

  // Asking for a height has the browser lay out the page: once, and where it may be another.
  const measure = () => {
    const row = frame.current?.querySelector<HTMLElement>('tbody tr[data-row]');
    if (row && row.offsetHeight > 0) height.current = row.offsetHeight;
  };
  useLayoutEffect(measure, [windowed, columns.length]);
  useEffect(() => {
    const box = frame.current;
    if (!box || !windowed) return;
    const resized = () => {
      measure();
      update();
    };
    const update = () => {
      const from = Math.max(0, Math.floor(box.scrollTop / height.current) - kBeyond);
      const to = Math.ceil((box.scrollTop + box.clientHeight) / height.current) + kBeyond;
      look((old) => (old.from === from && old.to === to ? old : {from, to}));
    };
    update();
    box.addEventListener('scroll', update, {passive: true});
    window.addEventListener('resize', resized);
    return () => {
      box.removeEventListener('scroll', update);
      window.removeEventListener('resize', resized);
    };
  }, [windowed, ordered.length]);

  const from = windowed ? Math.min(seen.from, ordered.length) : 0;
  const to = windowed ? Math.min(seen.to, ordered.length) : ordered.length;
  const move = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const row = (event.target as Element).closest('tr[data-row]');
    const next = event.key === 'ArrowDown' ? row?.nextElementSibling : row?.previousElementSibling;
    const link = next?.querySelector('a');
    if (!link) return;
    event.preventDefault();
    link.focus();
    link.scrollIntoView({block: 'nearest'});
  };

  const draw = (row: T, at: number) => {
    const known = drawn.get(row);
    if (known?.at === at) return known.row;
    const made = (
      <tr key={keyOf(row)} data-row aria-rowindex={at + 2}>
        {columns.map((column) => (
          <td key={column.id} class={classOf(column)}>{column.cell(row)}</td>
        ))}
      </tr>
    );
    drawn.set(row, {at, row: made});
    return made;
  };

  return (
    <div class={windowed ? 'table windowed' : 'table'} ref={frame} role="region" aria-label={label} tabIndex={0} onKeyDown={move}>
      <table aria-rowcount={ordered.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => {
              const current = sort?.by === column.id;
              return (
                <th key={column.id} scope="col" class={classOf(column)}
                    {...(current ? {'aria-sort': sort!.down ? 'descending' : 'ascending'} as const : {})}>
                  {sort && onSort && column.head !== '' ? (
                    <button type="button" onClick={() => onSort({by: column.id, down: current ? !sort.down : !!column.numeric})}>
                      {column.head}
                      <span class="arrow" aria-hidden="true">{current ? (sort.down ? '↓' : '↑') : ''}</span>
                    </button>
                  ) : column.head}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {from > 0 && <tr class="space" aria-hidden="true"><td colSpan={columns.length} style={{height: `${from * height.current}px`}} /></tr>}
          {ordered.slice(from, to).map((row, index) => draw(row, from + index))}
          {to < ordered.length && <tr class="space" aria-hidden="true"><td colSpan={columns.length} style={{height: `${(ordered.length - to) * height.current}px`}} /></tr>}
        </tbody>
      </table>
    </div>
  );
}
