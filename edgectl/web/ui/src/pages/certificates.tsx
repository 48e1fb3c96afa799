/// Certificates of listeners, those that end first before others; and the agents' own.
import {useMemo} from 'preact/hooks';
import {type Agent, useApi} from '../api';
import {absolute} from '../format';
import {live, useEvery, useLive, useNow} from '../live';
import {Empty, Fault, HealthMark, Heading, Section, Time, Waiting} from '../parts/basics';
import {Few, UseLink} from '../parts/links';
import {type Column, readSort, Table, writeSort} from '../parts/table';
import {setQuery, useLocation} from '../router';
import {texts} from '../texts';
import {type Certificate, certificateHealth, type Certificates, secondsLeft} from '../views';
import {agentPath} from './agents';

const t = texts.certificates;
const kDay = 86_400;

export function DaysLeft({certificate}: {certificate: Certificate}) {
  const now = useNow();
  const left = secondsLeft(certificate, now);
  if (left === null) return <span class="muted">{certificate.source === 'file' ? t.ofFile : '–'}</span>;
  const days = Math.floor(Math.abs(left) / kDay);
  return <time dateTime={certificate.notAfter} title={absolute(certificate.notAfter)}>{left < 0 ? t.endedDays(days) : t.days(days)}</time>;
}

const keyOf = (one: Certificate) => `${one.source} ${one.namespace}/${one.name}`;
const label = (one: Certificate) => (one.namespace === '' ? one.name : `${one.namespace}/${one.name}`);

function stateOf(one: Certificate, now: number): string {
  if (one.fault !== '') return t.faulty;
  const left = secondsLeft(one, now);
  if (left === null) return t.unknown;
  if (left <= 0) return t.ended;
  return left <= 30 * kDay ? t.soon : t.valid;
}

function columns(now: number): Column<Certificate>[] {
  return [
    {id: 'ends', head: t.ends, value: (one) => secondsLeft(one, now) ?? (one.fault !== '' ? -1e12 : 1e12), cell: (one) => <DaysLeft certificate={one} />},
    {id: 'state', head: texts.objects.state, value: (one) => stateOf(one, now),
     cell: (one) => <span title={one.fault}><HealthMark health={certificateHealth(one, now)} label={stateOf(one, now)} /></span>},
    {id: 'names', head: t.names, value: (one) => one.names.join(' '), cell: (one) => (
      one.fault !== '' ? <span class="wrap muted">{one.fault}</span> : <Few items={one.names} most={3}>{(name) => <span>{name}</span>}</Few>
    )},
    {id: 'secret', head: t.secret, value: label, cell: (one) => <span>{one.source === 'file' ? <code>{one.name}</code> : label(one)}</span>},
    {id: 'used', head: t.usedBy, value: (one) => one.usedBy.length, cell: (one) => (
      one.usedBy.length === 0 ? <span class="muted">{t.unused}</span>
        : <Few items={one.usedBy} most={2}>{(use) => <UseLink of={use} label={use.listener === '' ? `${use.kind} ${use.namespace}/${use.name}` : `${use.namespace}/${use.name} · ${use.listener}`} />}</Few>
    )},
    {id: 'issuer', head: t.issuer, value: (one) => one.issuer, cell: (one) => (one.selfSigned ? <span class="muted">{t.selfSigned}</span> : one.issuer || <span class="muted">–</span>)},
    {id: 'key', head: t.key, value: (one) => one.keyType, cell: (one) => one.keyType || <span class="muted">–</span>},
    {id: 'from', head: t.from, value: (one) => one.notBefore, cell: (one) => (one.notBefore === '' ? <span class="muted">–</span> : <Time at={one.notBefore} />)},
  ];
}

const kAgentColumns: Column<Agent>[] = [
  {id: 'ends', head: t.ends, value: (one) => one.certificateUntil, cell: (one) => <Time at={one.certificateUntil} />},
  {id: 'agent', head: texts.agents.name, value: (one) => one.name, cell: (one) => <a href={agentPath(one.name)}>{one.name}</a>},
];

function List({certificates}: {certificates: Certificates}) {
  const {query} = useLocation();
  const filter = query.get('filter') ?? '';
  const sort = readSort(query.get('sort'), 'ends');
  const now = useMemo(Date.now, [certificates]);
  const cols = useMemo(() => columns(now), [now]);
  const shown = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== '');
    return certificates.items.filter((one) => {
      const text = `${label(one)} ${one.names.join(' ')} ${one.issuer} ${one.subject} ${one.fault} ${stateOf(one, now)} ${one.usedBy.map((use) => `${use.namespace}/${use.name} ${use.listener}`).join(' ')}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }, [certificates, filter, now]);
  return (
    <>
      {certificates.fault !== '' && <Fault text={t.fault(certificates.fault)} />}
      <div class="bar">
        <input type="search" data-search value={filter} placeholder={texts.searchHint} aria-label={texts.search} onInput={(event) => setQuery({filter: event.currentTarget.value})} />
        <p class="muted" role="status">{t.count(shown.length, certificates.items.length)}</p>
      </div>
      {certificates.items.length === 0 ? <Empty text={t.empty} hint={t.emptyHint} />
        : shown.length === 0 ? <Empty text={texts.objects.nothingFound}><button type="button" onClick={() => setQuery({filter: ''})}>{texts.objects.clear}</button></Empty>
          : <Table label={texts.pages.certificates} columns={cols} rows={shown} keyOf={keyOf} sort={sort} onSort={(next) => setQuery({sort: writeSort(next)})} />}
      {certificates.leftOut > 0 && <p class="muted">{texts.objects.leftOut(certificates.leftOut)}</p>}
    </>
  );
}

export const kCertificateKinds = ['proxygateways', 'gateways', 'listenersets', 'ingresses'];

export function CertificatesPage() {
  const loaded = useApi<Certificates>('/api/certificates', kCertificateKinds);
  const agents = useLive(() => live.agents.value?.agents ?? []);
  const own = agents.filter((agent) => agent.certificateUntil !== '');
  // Secrets are not watched.
  useEvery(60_000, loaded.reload);
  return (
    <>
      <Heading title={texts.pages.certificates}><p class="lead">{t.lead}</p></Heading>
      <Waiting loaded={loaded}>{(certificates) => <List certificates={certificates} />}</Waiting>
      {own.length > 0 && <Section title={t.agents}><Table label={t.agents} columns={kAgentColumns} rows={[...own].sort((a, b) => (a.certificateUntil < b.certificateUntil ? -1 : 1))} keyOf={(one) => one.name} /></Section>}
    </>
  );
}
