import {useState} from 'preact/hooks';
import {type Agent, type ApiError, call, useApi} from '../api';
import {shortHash, whole} from '../format';
import {kAgent} from '../live';
import {Ask, Empty, Fault, HealthMark, Heading, Section, Time, Waiting} from '../parts/basics';
import {type Column, Table} from '../parts/table';
import {objectPath} from '../router';
import {texts} from '../texts';
import {agentPath, stateOf} from './agents';

const t = texts.agents;

interface Endpoint {
  namespace: string;
  name: string;
  circuit: string;
  address: string;
  healthy: boolean | null;
  lastCheck: string;
  lastError: string;
}

function endpointsOf(agent: Agent): Endpoint[] {
  return agent.backends.flatMap((backend): Endpoint[] => {
    const head = {namespace: backend.namespace, name: backend.name, circuit: backend.circuit};
    if (backend.endpoints.length === 0) return [{...head, address: '', healthy: null, lastCheck: '', lastError: ''}];
    return backend.endpoints.map((endpoint) => ({...head, ...endpoint}));
  });
}

const kEndpointColumns: Column<Endpoint>[] = [
  {id: 'backend', head: t.backend, value: (one) => one.name,
   cell: (one) => <a href={objectPath('proxybackends', one.namespace, one.name)}>{one.namespace}/{one.name}</a>},
  {id: 'circuit', head: t.circuit, value: (one) => one.circuit, cell: (one) => one.circuit},
  {id: 'endpoint', head: t.endpoint, value: (one) => one.address, cell: (one) => (one.address === '' ? <span class="muted">–</span> : <code>{one.address}</code>)},
  {id: 'health', head: t.health, value: (one) => String(one.healthy),
   cell: (one) => (one.healthy === null ? <span class="muted">–</span>
     : <HealthMark health={one.healthy ? 'good' : 'bad'} label={one.healthy ? t.healthy : t.unhealthy} />)},
  {id: 'checked', head: t.checked, value: (one) => one.lastCheck, cell: (one) => <Time at={one.lastCheck} />},
  {id: 'error', head: t.error, grow: true, value: (one) => one.lastError, cell: (one) => <span class="wrap">{one.lastError}</span>},
];

const kVipColumns: Column<Agent['vips'][number]>[] = [
  {id: 'vip', head: t.vip, value: (one) => one.name, cell: (one) => <a href={objectPath('proxyvips', one.namespace, one.name)}>{one.namespace}/{one.name}</a>},
  {id: 'address', head: t.address, value: (one) => one.address, cell: (one) => <code>{one.address}</code>},
  {id: 'held', head: t.held, value: (one) => String(one.held), cell: (one) => (one.held ? t.yes : t.no)},
  {id: 'interface', head: t.interface, value: (one) => one.interface, cell: (one) => one.interface},
  {id: 'reason', head: t.reason, grow: true, value: (one) => one.reason, cell: (one) => <span class="wrap">{one.reason}</span>},
];

function Fact({name, children}: {name: string; children: preact.ComponentChildren}) {
  return <div><dt>{name}</dt><dd>{children}</dd></div>;
}

function Body({agent}: {agent: Agent}) {
  const {state, health} = stateOf(agent);
  const endpoints = endpointsOf(agent);
  return (
    <>
      <dl class="facts-grid">
        <Fact name={t.state}><HealthMark health={health} label={t.states[state]} /></Fact>
        <Fact name={t.node}>{agent.node}</Fact>
        <Fact name={t.group}>{agent.group}</Fact>
        <Fact name={t.version}>{agent.version}</Fact>
        <Fact name={t.cpu}>{agent.cpu}</Fact>
        <Fact name={t.program}><code title={agent.program}>{shortHash(agent.program)}</code></Fact>
        <Fact name={t.connections}>{whole(agent.connections)}</Fact>
        <Fact name={t.requests}>{whole(agent.requests)}</Fact>
        <Fact name={t.lastSeen}><Time at={agent.lastSeen} /></Fact>
        <Fact name={t.certificate}><Time at={agent.certificateUntil} /></Fact>
        <Fact name={t.labels}>{Object.entries(agent.labels).map(([key, value]) => `${key}=${value}`).join(', ') || texts.none}</Fact>
      </dl>
      {agent.refused && <Fault text={t.refusedWhy(agent.refused.reason)} />}
      {(agent.unboundListeners ?? []).map((one) => (
        <Fault key={`${one.listener} ${one.address}`} text={t.unbound(`${one.namespace}/${one.gateway}/${one.listener}`, one.address, one.reason)} />
      ))}
      <Section title={t.backends} wide>
        {endpoints.length === 0 ? <Empty text={t.noBackends} /> : <Table label={t.backends} columns={kEndpointColumns} rows={endpoints} keyOf={(one) => `${one.namespace}/${one.name} ${one.address}`} />}
      </Section>
      <Section title={t.vips} wide>
        {agent.vips.length === 0 ? <Empty text={t.noVips} /> : <Table label={t.vips} columns={kVipColumns} rows={agent.vips} keyOf={(one) => `${one.namespace}/${one.name}/${one.address}`} />}
      </Section>
    </>
  );
}

export function AgentPage({name, readOnly}: {name: string; readOnly: boolean}) {
  const loaded = useApi<Agent>(`/api${agentPath(name)}`, [kAgent + name]);
  const [asked, ask] = useState<'drain' | 'undrain' | ''>('');
  const [said, say] = useState('');
  const [fault, setFault] = useState('');
  const act = (what: 'drain' | 'undrain') => {
    ask('');
    call(`/api${agentPath(name)}/${what}`, {}).then(
      () => {
        setFault('');
        say(what === 'drain' ? t.drained(name) : t.undrained(name));
        loaded.reload();
      },
      (error: ApiError) => setFault(error.message),
    );
  };
  return (
    <>
      <nav class="crumbs" aria-label={texts.pages.agents}><a href="/agents">{texts.pages.agents}</a></nav>
      <Heading title={name}>
        {!readOnly && loaded.data && (
          <div class="buttons">
            <button type="button" onClick={() => ask('drain')}>{t.drain}</button>
            <button type="button" onClick={() => ask('undrain')}>{t.undrain}</button>
          </div>
        )}
      </Heading>
      <p role="status" class={said === '' ? 'quiet-status' : 'said'}>{said}</p>
      {fault !== '' && <Fault text={fault} />}
      {loaded.error?.status === 404 ? <Empty text={t.gone}><a href="/agents">{texts.pages.agents}</a></Empty>
        : <Waiting loaded={loaded}>{(agent) => <Body agent={agent} />}</Waiting>}
      {asked !== '' && (
        <Ask title={asked === 'drain' ? t.drainAsk(name) : t.undrainAsk(name)} text={asked === 'drain' ? t.drainText : t.undrainText}
             confirm={asked === 'drain' ? t.drain : t.undrain} onConfirm={() => act(asked)} onCancel={() => ask('')} />
      )}
    </>
  );
}
