/// All objects of a kind, sorted, filtered by text, namespace and health.
import {useMemo} from 'preact/hooks';
import {type Health, type Objects, type Row, useApi} from '../api';
import {Choice, Empty, Fault, HealthMark, Heading, Time, Waiting} from '../parts/basics';
import {type Column, readSort, Table, writeSort, sorted} from '../parts/table';
import {type Rights, rightsPath} from '../edit-api';
import {objectPath, setQuery, useLocation} from '../router';
import {texts} from '../texts';

const t = texts.objects;
const kWorst: Record<Health, number> = {unknown: 0, good: 1, pending: 2, warning: 3, bad: 4};
const kListed: Health[] = ['bad', 'warning', 'pending', 'good'];

/// NAME_AND_SUCH -> Name and such
const head = (text: string) => text.charAt(0) + text.slice(1).toLowerCase().replaceAll('-', ' ').replaceAll('_', ' ');

function columnsOf(plural: string, heads: string[], namespaced: boolean): Column<Row>[] {
  const columns: Column<Row>[] = [{
    id: 'name', head: t.name, value: (row) => row.name,
    cell: (row) => <a href={objectPath(plural, row.namespace, row.name)}>{row.name}</a>,
  }];
  if (namespaced) columns.push({id: 'namespace', head: t.namespace, value: (row) => row.namespace, cell: (row) => row.namespace});
  columns.push({
    id: 'state', head: t.state, value: (row) => kWorst[row.health],
    cell: (row) => <span title={row.problem}><HealthMark health={row.health} /></span>,
  });
  heads.forEach((one, index) => {
    const cell = (row: Row) => row.cells[index] ?? '';
    const age = one === 'AGE';
    columns.push({
      id: one.toLowerCase(), head: head(one),
      value: (row) => (age ? -Date.parse(cell(row)) : /^\d+$/.test(cell(row)) ? Number(cell(row)) : cell(row)),
      cell: (row) => (age ? <Time at={cell(row)} /> : cell(row) === '<none>' ? <span class="muted">–</span> : <span class="clip" title={cell(row)}>{cell(row)}</span>),
    });
  });
  return columns;
}

function List({objects, plural}: {objects: Objects; plural: string}) {
  const {query} = useLocation();
  const filter = query.get('filter') ?? '';
  const namespace = query.get('namespace') ?? '';
  const health = (query.get('health') ?? 'all') as Health | 'all';
  const sort = readSort(query.get('sort'), 'name');
  const rows = objects.rows;
  const namespaces = useMemo(() => [...new Set(rows.map((row) => row.namespace))].filter((one) => one !== '').sort(), [rows]);
  const columns = useMemo(() => columnsOf(plural, objects.heads, namespaces.length > 0), [plural, objects.heads.join(), namespaces.length > 0]);
  /// Sorted and made into texts once for each load: a key looks through thousands of them.
  const ordered = useMemo(() => sorted(rows, columns, sort), [rows, columns, sort.by, sort.down]);
  const searched = useMemo(() => ordered.map((row) => `${row.namespace}/${row.name} ${row.cells.join(' ')} ${row.problem}`.toLowerCase()), [ordered]);
  const shown = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== '');
    return ordered.filter((row, index) => (namespace === '' || row.namespace === namespace) && (health === 'all' || row.health === health) &&
      words.every((word) => searched[index]!.includes(word)));
  }, [ordered, searched, filter, namespace, health]);
  const present = kListed.filter((one) => objects.kind.health[one] > 0 || one === health);
  const {kind} = objects;
  if (!kind.served) return <Empty text={t.notServed(kind.kind)} />;
  if (rows.length === 0 && kind.fault === '') return kind.synced ? <Empty text={t.empty(kind.kind)} hint={t.emptyHint} /> : <Empty text={texts.loading} />;
  return (
    <>
      {kind.fault !== '' && <Fault text={t.fault(kind.fault)} />}
      <div class="bar">
        <input type="search" data-search value={filter} placeholder={texts.searchHint} aria-label={texts.search}
               onInput={(event) => setQuery({filter: event.currentTarget.value})} />
        {namespaces.length > 1 && (
          <select aria-label={t.namespace} value={namespace} onChange={(event) => setQuery({namespace: event.currentTarget.value})}>
            <option value="">{t.allNamespaces}</option>
            {namespaces.map((one) => <option key={one} value={one}>{one}</option>)}
          </select>
        )}
        {present.length > 1 && (
          <Choice<Health | 'all'> label={t.state} value={health} onChange={(next) => setQuery({health: next === 'all' ? '' : next})}
            options={[['all', t.all], ...present.map((one): [Health, string] => [one, `${texts.health[one]} ${objects.kind.health[one]}`])]} />
        )}
        <p class="muted" role="status">{t.count(shown.length, rows.length)}</p>
      </div>
      {shown.length === 0 ? (
        <Empty text={t.nothingFound}>
          <button type="button" onClick={() => setQuery({filter: '', namespace: '', health: ''})}>{t.clear}</button>
        </Empty>
      ) : (
        <Table label={kind.kind} columns={columns} rows={shown} keyOf={(row) => `${row.namespace}/${row.name}`} sort={sort} inOrder
               onSort={(next) => setQuery({sort: writeSort(next)})} />
      )}
      {kind.leftOut > 0 && <p class="muted">{t.leftOut(kind.leftOut)}</p>}
    </>
  );
}

/// Where a new object would be: in the namespace that is chosen, or the only one; else in any.
function placeOf(chosen: string, rows: Row[] | undefined): string {
  const first = rows?.[0]?.namespace ?? '';
  return chosen === '' && rows?.every((row) => row.namespace === first) ? first : chosen;
}

/// `namespace`: where objects are created unless one is chosen.
export function ObjectsPage({plural, namespace: usual}: {plural: string; namespace: string}) {
  const {query} = useLocation();
  const namespace = query.get('namespace') ?? '';
  const loaded = useApi<Objects>(`/api/objects/${encodeURIComponent(plural)}`, [plural]);
  const rows = loaded.data?.rows;
  const place = useMemo(() => placeOf(namespace, rows), [namespace, rows]);
  const anywhere = useApi<Rights>(rightsPath(plural, ''), []).data;
  const here = useApi<Rights>(place === '' && rows?.length !== 0 ? null : rightsPath(plural, place === '' ? usual : place), []).data;
  const into = namespace !== '' || anywhere?.create ? namespace : place;
  return (
    <>
      <Heading title={loaded.data?.kind.kind ?? plural}>
        {(anywhere?.create || here?.create) && loaded.data?.kind.served && (
          <p class="buttons">
            <a class="button" href={`/create/${plural}${into === '' ? '' : `?namespace=${encodeURIComponent(into)}`}`}>{texts.edit.create}</a>
          </p>
        )}
        {loaded.data && <p class="lead">{loaded.data.kind.text}</p>}
      </Heading>
      <Waiting loaded={loaded}>{(objects) => <List objects={objects} plural={plural} />}</Waiting>
    </>
  );
}
