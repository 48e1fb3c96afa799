/// The configuration as a graph, and the same as a table.
import {useMemo} from 'preact/hooks';
import {type Health, useApi} from '../api';
import {whole} from '../format';
import {live, useEvery, useLive} from '../live';
import {Choice, Empty, HealthMark, Heading, Waiting} from '../parts/basics';
import {GraphView} from '../parts/graph_view';
import {type Graph, grouped, matching, nodeKey, placed, withEndpoints} from '../parts/graph';
import {Few, fullName, UseLink} from '../parts/links';
import {type Column, readSort, Table, writeSort} from '../parts/table';
import {setQuery, useLocation} from '../router';
import {texts} from '../texts';
import type {Endpoints, Topology, TopologyNode} from '../views';

const t = texts.topology;
const kHealths: Health[] = ['bad', 'warning', 'pending', 'good'];
const kWorst: Record<Health, number> = {unknown: 0, good: 1, pending: 2, warning: 3, bad: 4};

interface Row {
  node: TopologyNode;
  from: TopologyNode[];
  to: TopologyNode[];
}

const kColumns: Column<Row>[] = [
  {id: 'layer', head: t.layer, value: (row) => row.node.layer, cell: (row) => t.layers[row.node.layer] ?? ''},
  {id: 'name', head: texts.objects.name, value: (row) => fullName(row.node),
   cell: (row) => <><UseLink of={row.node} /> {row.node.detail !== '' && <span class="muted">{row.node.detail}</span>}</>},
  {id: 'state', head: texts.objects.state, value: (row) => kWorst[row.node.health],
   cell: (row) => <span title={row.node.problem}><HealthMark health={row.node.health} /></span>},
  {id: 'from', head: t.from, value: (row) => row.from.length, cell: (row) => <Few items={row.from} most={3}>{(of) => <UseLink of={of} />}</Few>},
  {id: 'to', head: t.to, value: (row) => row.to.length, cell: (row) => <Few items={row.to} most={3}>{(of) => <UseLink of={of} />}</Few>},
];

/// The same as the graph, to be read line by line.
function TextView({topology, shown}: {topology: Topology; shown: boolean[]}) {
  const {query} = useLocation();
  const sort = readSort(query.get('sort'), 'layer');
  const rows = useMemo(() => {
    const all = topology.nodes.map((node): Row => ({node, from: [], to: []}));
    for (const [a, b] of topology.edges) {
      all[a]!.to.push(topology.nodes[b]!);
      all[b]!.from.push(topology.nodes[a]!);
    }
    return all.filter((_, index) => shown[index]);
  }, [topology, shown]);
  return <Table label={texts.pages.topology} columns={kColumns} rows={rows} keyOf={(row) => nodeKey(row.node)} sort={sort}
                onSort={(next) => setQuery({sort: writeSort(next)})} />;
}

/// Requests per second by key of a node.
function useRates(graph: Graph): Map<string, number> {
  const traffic = useLive(() => live.traffic.value);
  return useMemo(() => {
    const routes = new Map<string, number>();
    const gateways = new Map<string, number>();
    const add = (to: Map<string, number>, name: string, rate: number | null) => to.set(name, (to.get(name) ?? 0) + (rate ?? 0));
    for (const row of traffic?.routes ?? []) {
      add(routes, row.route, row.requestsPerSecond);
      add(gateways, row.gateway, row.requestsPerSecond);
    }
    const backends = new Map((traffic?.backends ?? []).map((row) => [row.backend, row.requestsPerSecond ?? 0]));
    const byLayer: Record<number, Map<string, number>> = {1: gateways, 3: routes, 4: backends};
    const rates = new Map<string, number>();
    for (const node of graph.nodes) {
      const known = byLayer[node.layer];
      if (!known) continue;
      const of = node.of ? [node.of] : node.members;
      const rate = of.reduce((sum, one) => sum + (known.get(fullName(one)) ?? 0), 0);
      if (rate > 0) rates.set(node.key, rate);
    }
    return rates;
  }, [traffic, graph]);
}

function Drawn({topology, shown, open, all}: {topology: Topology; shown: boolean[]; open: string; all: boolean}) {
  const picture = useMemo(() => placed(grouped(topology, shown, new Set(open === '' ? [] : open.split(',')), all)), [topology, shown, open, all]);
  const rates = useRates(picture);
  const expand = (key: string) => setQuery({open: open === '' ? key : `${open},${key}`});
  return <GraphView picture={picture} rates={rates} onExpand={expand} />;
}

function Shown({topology, endpoints, searched, namespaces}: {topology: Topology; endpoints: Endpoints | undefined; searched: boolean; namespaces: string[]}) {
  const {query} = useLocation();
  const filter = query.get('filter') ?? '';
  const namespace = query.get('namespace') ?? '';
  const health = (query.get('health') ?? 'all') as Health | 'all';
  const view = query.get('view') === 'table' ? 'table' : 'graph';
  const all = query.get('groups') === 'open';
  const open = query.get('open') ?? '';
  const everything = useMemo(() => withEndpoints(topology, endpoints?.items ?? []), [topology, endpoints]);
  const {shown, hits} = useMemo(() => matching(everything, {words: searched ? [] : filter.toLowerCase().split(/\s+/).filter((word) => word !== ''), health}),
                                [everything, filter, health, searched]);
  const present = kHealths.filter((one) => one === health || everything.nodes.some((node) => node.health === one));
  const many = everything.nodes.length > 250;
  return (
    <>
      <div class="bar">
        <input type="search" data-search value={filter} placeholder={texts.searchHint} aria-label={texts.search}
               onInput={(event) => setQuery({filter: event.currentTarget.value})} />
        {namespaces.length > 1 && (
          <select aria-label={texts.objects.namespace} value={namespace} onChange={(event) => setQuery({namespace: event.currentTarget.value})}>
            <option value="">{texts.objects.allNamespaces}</option>
            {namespaces.map((one) => <option key={one} value={one}>{one}</option>)}
          </select>
        )}
        {present.length > 1 && (
          <Choice<Health | 'all'> label={texts.objects.state} value={health} onChange={(next) => setQuery({health: next === 'all' ? '' : next})}
            options={[['all', texts.objects.all], ...present.map((one): [Health, string] => [one, texts.health[one]])]} />
        )}
        <Choice<'graph' | 'table'> label={t.view} value={view} options={[['graph', t.graph], ['table', t.table]]}
          onChange={(next) => setQuery({view: next === 'graph' ? '' : next})} />
        {view === 'graph' && many && (
          <label class="check"><input type="checkbox" checked={all} onChange={(event) => setQuery({groups: event.currentTarget.checked ? 'open' : '', open: ''})} /> {t.openAll}</label>
        )}
        {view === 'graph' && !all && open !== '' && <button type="button" onClick={() => setQuery({open: ''})}>{t.closeGroups}</button>}
        <p class="muted" role="status">{t.count(hits, everything.nodes.length)}</p>
      </div>
      {everything.leftOut > 0 && <p class="muted note">{t.leftOut(whole(everything.leftOut))}</p>}
      {everything.nodes.length === 0 ? <Empty text={t.empty} hint={t.emptyHint}><a href="/objects/proxygateways">{t.emptyLink}</a></Empty>
        : hits === 0 ? (
          <Empty text={texts.objects.nothingFound}>
            <button type="button" onClick={() => setQuery({filter: '', namespace: '', health: ''})}>{texts.objects.clear}</button>
          </Empty>
        ) : view === 'table' ? <TextView topology={everything} shown={shown} /> : <Drawn topology={everything} shown={shown} open={open} all={all} />}
    </>
  );
}

export function TopologyPage() {
  const {query} = useLocation();
  const filter = query.get('filter') ?? '';
  const namespace = query.get('namespace') ?? '';
  const everything = useApi<Topology>('/api/topology', ['*']);
  // What was left out can only be found by the server.
  const narrowed = namespace !== '' || (filter !== '' && (everything.data?.leftOut ?? 0) > 0);
  const asked = new URLSearchParams({...(namespace !== '' ? {namespace} : {}), ...(narrowed && filter !== '' && (everything.data?.leftOut ?? 0) > 0 ? {search: filter} : {})});
  const part = useApi<Topology>(narrowed ? `/api/topology?${asked.toString()}` : null, ['*']);
  const endpoints = useApi<Endpoints>('/api/endpoints', ['*']);
  // What agents find out changes no object.
  useEvery(10_000, endpoints.reload);
  const namespaces = useMemo(() => {
    const names = new Set((everything.data?.nodes ?? []).filter((node) => node.layer === 3).map((node) => node.namespace));
    if (namespace !== '') names.add(namespace);
    return [...names].filter((one) => one !== '').sort();
  }, [everything.data, namespace]);
  return (
    <>
      <Heading title={texts.pages.topology}><p class="lead">{t.lead}</p></Heading>
      <Waiting loaded={narrowed ? part : everything}>
        {(topology) => <Shown topology={topology} endpoints={endpoints.data} searched={asked.has('search')} namespaces={namespaces} />}
      </Waiting>
    </>
  );
}
