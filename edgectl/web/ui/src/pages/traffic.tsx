/// Live traffic by route, backend or agent.
import {useMemo} from 'preact/hooks';
import type {AgentTraffic, BackendTraffic, Rates, RouteTraffic} from '../api';
import {bytes, duration, part, rate} from '../format';
import {live, useLive} from '../live';
import {Choice, Empty, Fault, Heading, Loading, Section} from '../parts/basics';
import {Spark} from '../parts/chart';
import {type Column, readSort, Table, writeSort} from '../parts/table';
import {partPath, setQuery, useLocation} from '../router';
import {texts} from '../texts';
import {agentPath} from './agents';

const t = texts.traffic;
type By = 'route' | 'backend' | 'agent';

function PartLink({part: of, name}: {part: 'route' | 'gateway' | 'backend'; name: string}) {
  return name.includes('/') ? <a href={partPath(of, name)}>{name}</a> : <span>{name}</span>;
}

function rates<T extends Rates>(keyOf: (row: T) => string): Column<T>[] {
  const number = (value: number | null) => value ?? -1;
  return [
    {id: 'rate', head: t.rate, numeric: true, value: (row) => number(row.requestsPerSecond), cell: (row) => rate(row.requestsPerSecond)},
    {id: 'recent', head: t.recent, value: (row) => number(row.requestsPerSecond), cell: (row) => {
      const values = live.recent.get(keyOf(row)) ?? [];
      const most = Math.max(0, ...values);
      return <Spark values={values} label={t.chart(t.requests, rate(row.requestsPerSecond), rate(most))} />;
    }},
    {id: 'client-errors', head: t.clientErrors, numeric: true, value: (row) => number(row.clientErrorPart), cell: (row) => part(row.clientErrorPart)},
    {id: 'errors', head: t.errors, numeric: true, value: (row) => number(row.errorPart),
     cell: (row) => <span class={(row.errorPart ?? 0) > 0 ? 'bad-text' : ''}>{part(row.errorPart)}</span>},
    {id: 'p50', head: t.p50, numeric: true, value: (row) => number(row.p50Seconds), cell: (row) => duration(row.p50Seconds)},
    {id: 'p99', head: t.p99, numeric: true, value: (row) => number(row.p99Seconds), cell: (row) => duration(row.p99Seconds)},
  ];
}

const kRouteKey = (row: RouteTraffic) => `route ${row.gateway} ${row.route}`;
const kBackendKey = (row: BackendTraffic) => `backend ${row.backend}`;
const kAgentKey = (row: AgentTraffic) => `agent ${row.agent}`;

const kRoutes: Column<RouteTraffic>[] = [
  {id: 'route', head: t.route, value: (row) => row.route,
   cell: (row) => (row.route === '' ? <span class="muted">{t.noRoute}</span> : <PartLink part="route" name={row.route} />)},
  {id: 'gateway', head: t.gateway, value: (row) => row.gateway, cell: (row) => <PartLink part="gateway" name={row.gateway} />},
  ...rates<RouteTraffic>(kRouteKey),
  {id: 'received', head: t.received, numeric: true, value: (row) => row.receivedBytesPerSecond ?? -1, cell: (row) => bytes(row.receivedBytesPerSecond)},
  {id: 'sent', head: t.sent, numeric: true, value: (row) => row.sentBytesPerSecond ?? -1, cell: (row) => bytes(row.sentBytesPerSecond)},
];
const kBackends: Column<BackendTraffic>[] = [
  {id: 'backend', head: t.backend, value: (row) => row.backend, cell: (row) => <PartLink part="backend" name={row.backend} />},
  ...rates<BackendTraffic>(kBackendKey),
  {id: 'healthy', head: t.healthy, numeric: true, value: (row) => row.healthyEndpoints ?? -1,
   cell: (row) => <span class={row.healthyEndpoints !== row.endpoints ? 'bad-text' : ''}>{row.healthyEndpoints ?? '–'}/{row.endpoints ?? '–'}</span>},
  {id: 'circuit', head: t.circuit, value: (row) => row.circuit ?? '', cell: (row) => row.circuit ?? '–'},
  {id: 'connections', head: t.connections, numeric: true, value: (row) => row.connections ?? -1, cell: (row) => rate(row.connections)},
  {id: 'retries', head: t.retries, numeric: true, value: (row) => row.retriesPerSecond ?? -1, cell: (row) => rate(row.retriesPerSecond)},
];
const kAgents: Column<AgentTraffic>[] = [
  {id: 'agent', head: t.agent, value: (row) => row.agent, cell: (row) => <a href={agentPath(row.agent)}>{row.agent}</a>},
  ...rates<AgentTraffic>(kAgentKey),
  {id: 'connections', head: t.connections, numeric: true, value: (row) => row.connections ?? -1, cell: (row) => rate(row.connections)},
  {id: 'cpu', head: t.cpu, numeric: true, value: (row) => row.cpuSecondsPerSecond ?? -1, cell: (row) => part(row.cpuSecondsPerSecond)},
  {id: 'memory', head: t.memory, numeric: true, value: (row) => row.residentBytes ?? -1, cell: (row) => bytes(row.residentBytes)},
];

function Rows<T extends object>({rows, columns, keyOf}: {rows: T[]; columns: Column<T>[]; keyOf: (row: T) => string}) {
  const {query} = useLocation();
  const filter = (query.get('filter') ?? '').toLowerCase();
  const sort = readSort(query.get('sort'), '-rate');
  const shown = useMemo(() => rows.filter((row) => keyOf(row).toLowerCase().includes(filter)), [rows, filter]);
  if (rows.length === 0) return <Empty text={t.empty} hint={t.emptyHint} />;
  if (shown.length === 0) return <Empty text={texts.objects.nothingFound}><button type="button" onClick={() => setQuery({filter: ''})}>{texts.objects.clear}</button></Empty>;
  return <Table label={texts.pages.traffic} columns={columns} rows={shown} keyOf={keyOf} sort={sort} onSort={(next) => setQuery({sort: writeSort(next)})} />;
}

export function TrafficPage() {
  const {query} = useLocation();
  const by = (query.get('by') ?? 'route') as By;
  const filter = query.get('filter') ?? '';
  const paused = useLive(() => live.paused);
  const {value: traffic, error} = useLive(() => live.traffic);
  const line = traffic?.line ?? [];
  const requests = line.map((point) => point?.requests ?? null);
  const errors = line.map((point) => point?.errors ?? null);
  const most = (values: (number | null)[]) => rate(Math.max(0, ...values.map((value) => value ?? 0)));
  return (
    <>
      <Heading title={texts.pages.traffic}>
        <p class="lead">{t.lead(traffic?.window ?? '15s')}</p>
      </Heading>
      {error && <Fault text={error} />}
      {(traffic?.faults ?? []).map((fault) => <Fault key={fault} text={fault} />)}
      {!traffic && !error && <Loading />}
      {traffic && (
        <>
          <div class="tiles two">
            <Section title={t.requests} aside={<span class="muted">{t.nowAndMost(rate(requests.at(-1)), most(requests))}</span>}>
              <Spark values={requests} wide label={t.chart(t.requests, rate(requests.at(-1)), most(requests))} />
            </Section>
            <Section title={t.ofErrors} aside={<span class="muted">{t.nowAndMost(rate(errors.at(-1)), most(errors))}</span>}>
              <Spark values={errors} wide bad label={t.chart(t.ofErrors, rate(errors.at(-1)), most(errors))} />
            </Section>
          </div>
          <div class="bar">
            <Choice<By> label={t.by} value={by} options={[['route', t.byRoute], ['backend', t.byBackend], ['agent', t.byAgent]]}
                        onChange={(next) => setQuery({by: next === 'route' ? '' : next, sort: ''})} />
            <input type="search" data-search value={filter} placeholder={texts.searchHint} aria-label={texts.search}
                   onInput={(event) => setQuery({filter: event.currentTarget.value})} />
            <button type="button" aria-pressed={paused} onClick={() => live.setPaused(!paused)}>{paused ? t.resume : t.pause}</button>
            {paused && <p class="muted" role="status">{t.paused}</p>}
          </div>
          {by === 'route' && <Rows rows={traffic.routes} columns={kRoutes} keyOf={kRouteKey} />}
          {by === 'backend' && <Rows rows={traffic.backends} columns={kBackends} keyOf={kBackendKey} />}
          {by === 'agent' && <Rows rows={traffic.agents} columns={kAgents} keyOf={kAgentKey} />}
        </>
      )}
    </>
  );
}
