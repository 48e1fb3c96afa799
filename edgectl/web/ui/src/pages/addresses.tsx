/// Virtual addresses: who holds or announces each, and which gateways listen on it.
import {useMemo} from 'preact/hooks';
import {useApi} from '../api';
import {Empty, HealthMark, Heading, Section, Time, Waiting} from '../parts/basics';
import {Few, fullName, UseLink} from '../parts/links';
import {type Column, readSort, Table, writeSort} from '../parts/table';
import {objectPath, setQuery, useLocation} from '../router';
import {texts} from '../texts';
import type {Address, Addresses} from '../views';

const t = texts.addresses;
const path = (one: Address) => objectPath('proxyvips', one.namespace, one.name);
const placeOf = (one: Address) => one.address || one.pool.join(', ');
const nodesOf = (one: Address) => (one.announcingNodes.length > 0 ? one.announcingNodes : one.currentNode === '' ? [] : [one.currentNode]);

const kColumns: Column<Address>[] = [
  {id: 'address', head: t.address, value: placeOf, cell: (one) => <code>{placeOf(one)}</code>},
  {id: 'name', head: t.name, value: fullName, cell: (one) => <a href={path(one)}>{fullName(one)}</a>},
  {id: 'state', head: texts.objects.state, value: (one) => one.health, cell: (one) => <span title={one.problem}><HealthMark health={one.health} /></span>},
  {id: 'mode', head: t.mode, value: (one) => one.mode, cell: (one) => <>{one.mode} {one.pool.length > 0 && <span class="tag">{t.pool}</span>}</>},
  {id: 'nodes', head: t.nodes, value: (one) => nodesOf(one).join(' '), cell: (one) => (
    nodesOf(one).length === 0 ? <span class="muted">{one.pool.length > 0 ? '–' : t.nobody}</span>
      : <Few items={nodesOf(one)} most={4}>{(node) => <a href={`/agents?filter=${encodeURIComponent(node)}`}>{node}</a>}</Few>
  )},
  {id: 'epoch', head: t.epoch, numeric: true, value: (one) => one.epoch, cell: (one) => (one.epoch === 0 ? <span class="muted">–</span> : String(one.epoch))},
  {id: 'sessions', head: t.sessions, value: (one) => one.sessions.filter((session) => session.state === 'Established').length, cell: (one) => {
    const up = one.sessions.filter((session) => session.state === 'Established').length;
    return one.sessions.length === 0 ? <span class="muted">–</span> : <HealthMark health={up === one.sessions.length ? 'good' : up === 0 ? 'bad' : 'warning'} label={t.established(up, one.sessions.length)} />;
  }},
  {id: 'ports', head: t.ports, value: (one) => one.ports.join(' '), cell: (one) => one.ports.join(', ') || <span class="muted">–</span>},
  {id: 'gateways', head: t.gateways, value: (one) => one.gateways.length, cell: (one) => <Few items={one.gateways} most={3}>{(of) => <UseLink of={of} />}</Few>},
];

type Session = Address['sessions'][number] & {of: Address};
const kSessions: Column<Session>[] = [
  {id: 'of', head: t.name, value: (one) => fullName(one.of), cell: (one) => <a href={path(one.of)}>{fullName(one.of)}</a>},
  {id: 'node', head: t.node, value: (one) => one.node, cell: (one) => one.node},
  {id: 'peer', head: t.peer, value: (one) => one.peer, cell: (one) => one.peer},
  {id: 'state', head: texts.objects.state, value: (one) => one.state, cell: (one) => <HealthMark health={one.state === 'Established' ? 'good' : 'bad'} label={one.state} />},
  {id: 'bfd', head: t.bfd, value: (one) => one.bfd, cell: (one) => one.bfd || <span class="muted">–</span>},
  {id: 'since', head: t.since, value: (one) => one.since, cell: (one) => <Time at={one.since} />},
  {id: 'error', head: t.lastError, grow: true, value: (one) => one.lastError, cell: (one) => <span class="wrap">{one.lastError || '–'}</span>},
];

type Allocation = Address['allocations'][number] & {of: Address};
const kAllocations: Column<Allocation>[] = [
  {id: 'address', head: t.address, value: (one) => one.address, cell: (one) => <code>{one.address}</code>},
  {id: 'of', head: t.pool, value: (one) => fullName(one.of), cell: (one) => <a href={path(one.of)}>{fullName(one.of)}</a>},
  {id: 'gateway', head: t.gateways, value: (one) => fullName(one),
   cell: (one) => <UseLink of={{kind: one.kind, plural: one.kind === 'Gateway' ? 'gateways' : 'proxygateways', namespace: one.namespace, name: one.name}} />},
  {id: 'node', head: t.node, value: (one) => one.node, cell: (one) => one.node || <span class="muted">{t.nobody}</span>},
];

function List({addresses}: {addresses: Addresses}) {
  const {query} = useLocation();
  const filter = (query.get('filter') ?? '').toLowerCase();
  const sort = readSort(query.get('sort'), 'name');
  const shown = useMemo(() => addresses.items.filter((one) => filter.split(/\s+/).every((word) =>
    `${fullName(one)} ${placeOf(one)} ${one.mode} ${nodesOf(one).join(' ')} ${one.problem} ${one.gateways.map(fullName).join(' ')}`.toLowerCase().includes(word))), [addresses, filter]);
  const sessions = shown.flatMap((of) => of.sessions.map((session): Session => ({...session, of})));
  const allocations = shown.flatMap((of) => of.allocations.map((one): Allocation => ({...one, of})));
  if (addresses.items.length === 0) return <Empty text={t.empty} hint={t.emptyHint} />;
  return (
    <>
      <div class="bar">
        <input type="search" data-search value={query.get('filter') ?? ''} placeholder={texts.searchHint} aria-label={texts.search} onInput={(event) => setQuery({filter: event.currentTarget.value})} />
        <p class="muted" role="status">{t.count(shown.length, addresses.items.length)}</p>
      </div>
      {shown.length === 0 ? <Empty text={texts.objects.nothingFound}><button type="button" onClick={() => setQuery({filter: ''})}>{texts.objects.clear}</button></Empty>
        : <Table label={texts.pages.addresses} columns={kColumns} rows={shown} keyOf={fullName} sort={sort} onSort={(next) => setQuery({sort: writeSort(next)})} />}
      {sessions.length > 0 && <Section title={t.sessions}><Table label={t.sessions} columns={kSessions} rows={sessions} keyOf={(one) => `${fullName(one.of)} ${one.node} ${one.peer}`} /></Section>}
      {allocations.length > 0 && <Section title={t.allocations}><Table label={t.allocations} columns={kAllocations} rows={allocations} keyOf={(one) => one.address} /></Section>}
      {addresses.leftOut > 0 && <p class="muted">{texts.objects.leftOut(addresses.leftOut)}</p>}
    </>
  );
}

export function AddressesPage() {
  const loaded = useApi<Addresses>('/api/addresses', ['proxyvips', 'proxygateways', 'gateways']);
  return (
    <>
      <Heading title={texts.pages.addresses}><p class="lead">{t.lead}</p></Heading>
      <Waiting loaded={loaded}>{(addresses) => <List addresses={addresses} />}</Waiting>
    </>
  );
}
