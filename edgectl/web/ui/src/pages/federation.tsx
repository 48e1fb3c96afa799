/// What clusters share, how far each is, and what they disagree about, with the way to end that.
import {useEffect, useState} from 'preact/hooks';
import {type ApiError, call, type Health, type Json, type Session, useApi} from '../api';
import {Ask, Empty, Fault, HealthMark, Heading, Loading, Section, Time, Waiting} from '../parts/basics';
import {type Column, Table} from '../parts/table';
import {setQuery, useLocation} from '../router';
import {texts} from '../texts';

const t = texts.federation;

interface Refused {
  reason: string;
  count: number;
}
interface Peer {
  name: string;
  cluster: string;
  hub: boolean;
  connected: boolean;
  since: string | null;
  suspended: boolean;
  stale: boolean;
  comparing: boolean;
  synchronized: boolean;
  lagVersions: number;
  lagSeconds: number;
  lastComparison: string | null;
  sentVersions: number;
  receivedVersions: number;
  sentBytes: number;
  receivedBytes: number;
  refused: Refused[];
  refusedByPeer: Refused[];
  fault: string;
}
interface Version {
  author: string;
  version: string;
  time: string | null;
  origin: string;
  deleted: boolean;
  digest: string;
  bytes: number;
  content?: {[name: string]: Json} | null;
}
interface Conflict {
  kind: string;
  namespace: string;
  name: string;
  winner: Version;
  losers: Version[];
}
interface Status {
  cluster: string;
  conflictPolicy: string;
  kinds: string[];
  namespaces: string[];
  objects: number;
  tombstones: number;
  conflicts: number;
  peers: number;
  connected: number;
  faults: string[];
}
interface Federation {
  none: string;
  status?: Status;
  peers: Peer[];
  items: Conflict[];
  more?: boolean;
  hidden?: number;
}

const nameOf = (conflict: Conflict) => `${conflict.kind} ${conflict.namespace === '' ? '' : `${conflict.namespace}/`}${conflict.name}`;
const authorOf = (version: Version) => (version.author === '' ? t.here : version.author);
const refusedOf = (all: Refused[]) => all.reduce((sum, one) => sum + one.count, 0);

function stateOf(peer: Peer): {health: Health; text: string} {
  if (peer.suspended) return {health: 'unknown', text: t.suspended};
  if (!peer.connected) return {health: 'bad', text: t.away};
  if (peer.comparing || peer.stale) return {health: 'pending', text: t.comparing};
  return peer.synchronized ? {health: 'good', text: t.synchronized} : {health: 'warning', text: t.behind};
}

function Peers({peers}: {peers: Peer[]}) {
  const columns: Column<Peer>[] = [
    {id: 'name', head: t.peer, value: (peer) => peer.name, cell: (peer) => <span title={peer.cluster}>{peer.name}{peer.hub ? ` (${t.hub})` : ''}</span>},
    {id: 'state', head: t.state, value: (peer) => stateOf(peer).text, cell: (peer) => {
      const state = stateOf(peer);
      return <span title={peer.fault}><HealthMark health={state.health} label={state.text} /></span>;
    }},
    {id: 'lag', head: t.lag, value: (peer) => peer.lagVersions, cell: (peer) => (peer.lagVersions === 0 ? t.none : t.versions(peer.lagVersions, Math.round(peer.lagSeconds)))},
    {id: 'compared', head: t.compared, value: (peer) => peer.lastComparison ?? '', cell: (peer) => <Time at={peer.lastComparison ?? ''} />},
    {id: 'sent', head: t.sent, value: (peer) => peer.sentVersions, cell: (peer) => peer.sentVersions.toLocaleString('en')},
    {id: 'received', head: t.received, value: (peer) => peer.receivedVersions, cell: (peer) => peer.receivedVersions.toLocaleString('en')},
    {id: 'refused', head: t.refused, value: (peer) => refusedOf(peer.refused) + refusedOf(peer.refusedByPeer), cell: (peer) => (
      <span title={[...peer.refused, ...peer.refusedByPeer].map((one) => `${one.count}: ${one.reason}`).join('; ')}>
        {refusedOf(peer.refused) + refusedOf(peer.refusedByPeer)}
      </span>
    )},
  ];
  return <Table label={t.peers} columns={columns} rows={peers} keyOf={(peer) => (peer.cluster === '' ? peer.name : peer.cluster)} />;
}

function VersionView({version, wins, keep}: {version: Version; wins: boolean; keep?: (() => void) | undefined}) {
  const title = `${wins ? t.wins : t.loses}: ${authorOf(version)}`;
  return (
    <Section title={title} aside={keep && <button type="button" onClick={keep}>{t.keep(authorOf(version))}</button>}>
      <p class="muted"><Time at={version.time ?? ''} /> · {t.from(version.origin)} · <code>{version.digest.slice(0, 12)}</code></p>
      {version.deleted ? <p>{t.deleted}</p> : version.content
        ? <pre class="yaml" tabIndex={0} aria-label={title}>{JSON.stringify(version.content, null, 2)}</pre>
        : <p class="muted">{t.notShown}</p>}
    </Section>
  );
}

function Versions({conflict, readOnly, done}: {conflict: Conflict; readOnly: boolean; done: (said: string) => void}) {
  const path = [conflict.kind, conflict.namespace, conflict.name].map(encodeURIComponent).join('/');
  const loaded = useApi<{items: Conflict[]}>(`/api/federation/conflicts/${path}`, []);
  const rights = useApi<{update: boolean}>(`/api/rights/${encodeURIComponent(pluralOf(conflict.kind))}/${encodeURIComponent(conflict.namespace)}`, []);
  const [chosen, choose] = useState<Version>();
  const [fault, setFault] = useState('');
  const may = !readOnly && rights.data?.update === true;
  const send = (version: Version) => {
    choose(undefined);
    const {kind, namespace, name} = conflict;
    call('/api/federation/resolve', {kind, namespace, name, keep: version.version}).then(
      () => done(t.resolved(nameOf(conflict), authorOf(version))),
      (error: ApiError) => setFault(error.message),
    );
  };
  return (
    <Waiting loaded={loaded}>
      {({items}) => {
        const full = items[0];
        if (!full) return <Empty text={t.gone} />;
        const keeper = (version: Version) => (may ? () => choose(version) : undefined);
        return (
          <>
            {fault !== '' && <Fault text={fault} />}
            <div class="columns even">
              <VersionView version={full.winner} wins keep={keeper(full.winner)} />
              {full.losers.map((loser) => <VersionView key={loser.version} version={loser} wins={false} keep={keeper(loser)} />)}
            </div>
            {chosen && (
              <Ask title={t.ask(authorOf(chosen))} text={t.askText} confirm={t.keep(authorOf(chosen))}
                   onCancel={() => choose(undefined)} onConfirm={() => send(chosen)} />
            )}
          </>
        );
      }}
    </Waiting>
  );
}

/// As the API has it: names of our kinds are regular.
function pluralOf(kind: string): string {
  const lower = kind.toLowerCase();
  return lower.endsWith('y') ? `${lower.slice(0, -1)}ies` : lower.endsWith('s') ? `${lower}es` : `${lower}s`;
}

function Conflicts({items, more, hidden, readOnly, reload}: {
  items: Conflict[];
  more: boolean;
  hidden: number;
  readOnly: boolean;
  reload: () => void;
}) {
  const {query} = useLocation();
  const [said, say] = useState('');
  const chosen = items.find((conflict) => nameOf(conflict) === query.get('conflict'));
  const columns: Column<Conflict>[] = [
    {id: 'object', head: t.object, value: nameOf, cell: (conflict) => (
      <button type="button" class="quiet inline" aria-pressed={conflict === chosen} onClick={() => setQuery({conflict: nameOf(conflict)})}>{nameOf(conflict)}</button>
    )},
    {id: 'winner', head: t.wins, value: (conflict) => authorOf(conflict.winner), cell: (conflict) => authorOf(conflict.winner)},
    {id: 'losers', head: t.loses, value: (conflict) => conflict.losers.map(authorOf).join(', '), cell: (conflict) => conflict.losers.map(authorOf).join(', ')},
    {id: 'time', head: t.since, value: (conflict) => conflict.losers[0]?.time ?? '', cell: (conflict) => <Time at={conflict.losers[0]?.time ?? ''} />},
  ];
  return (
    <>
      <p role="status">{said}</p>
      <Section title={t.conflicts} wide>
        {items.length === 0 ? <Empty text={t.noConflicts} /> : <Table label={t.conflicts} columns={columns} rows={items} keyOf={nameOf} />}
        {more && <p class="muted">{t.moreConflicts}</p>}
        {hidden > 0 && <p class="muted">{t.hidden(hidden)}</p>}
      </Section>
      {chosen && (
        <Versions key={nameOf(chosen)} conflict={chosen} readOnly={readOnly} done={(text) => {
          say(text);
          setQuery({conflict: ''});
          reload();
        }} />
      )}
    </>
  );
}

export function FederationPage({session}: {session: Session | undefined}) {
  const loaded = useApi<Federation>('/api/federation', ['*']);
  useEffect(() => {
    const timer = setInterval(loaded.reload, 5000);
    return () => clearInterval(timer);
  }, [loaded.reload]);
  const readOnly = session === undefined || session.readOnly || !session.may.changeAgents;
  return (
    <>
      <Heading title={t.title}><p class="lead">{t.lead}</p></Heading>
      {loaded.data === undefined && !loaded.error && <Loading />}
      {loaded.error && <Fault text={loaded.error.message} retry={loaded.reload} />}
      {loaded.data && loaded.data.none !== '' && <Empty text={loaded.data.none} hint={t.noneHint} />}
      {loaded.data?.status && (
        <>
          {loaded.data.status.faults.map((text) => <p key={text} class="problem warning">{text}</p>)}
          <Section title={t.status}>
            <p>{t.summary(loaded.data.status.objects, loaded.data.status.connected, loaded.data.status.peers)}</p>
            <p class="muted">{t.shares(loaded.data.status.kinds, loaded.data.status.namespaces)} · {t.policy(loaded.data.status.conflictPolicy)}</p>
          </Section>
          <Section title={t.peers} wide>
            {loaded.data.peers.length === 0 ? <Empty text={t.noPeers} hint={t.noneHint} /> : <Peers peers={loaded.data.peers} />}
          </Section>
          <Conflicts items={loaded.data.items} more={loaded.data.more ?? false} hidden={loaded.data.hidden ?? 0} readOnly={readOnly} reload={loaded.reload} />
        </>
      )}
    </>
  );
}
