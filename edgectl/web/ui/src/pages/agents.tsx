import {useMemo} from 'preact/hooks';
import {type Agent, type Agents, type Health, useApi} from '../api';
import {shortHash, whole} from '../format';
import {live, useLive} from '../live';
import {Empty, Fault, HealthMark, Heading, Loading, Time} from '../parts/basics';
import {type Column, readSort, Table, writeSort} from '../parts/table';
import {setQuery, useLocation} from '../router';
import {texts} from '../texts';

const t = texts.agents;

export type AgentStateName = 'current' | 'behind' | 'refused' | 'away' | 'idle';

export function stateOf(agent: Agent): {state: AgentStateName; health: Health} {
  if (!agent.connected) return {state: 'away', health: 'bad'};
  if (agent.refused) return {state: 'refused', health: 'bad'};
  if (agent.program === '') return {state: 'idle', health: 'pending'};
  if (agent.program !== agent.published || !agent.valuesCurrent) return {state: 'behind', health: 'warning'};
  return {state: 'current', health: 'good'};
}

export const agentPath = (name: string) => `/agents/${encodeURIComponent(name)}`;

const kColumns: Column<Agent>[] = [
  {id: 'name', head: t.name, value: (one) => one.name, cell: (one) => <a href={agentPath(one.name)}>{one.name}</a>},
  {id: 'state', head: t.state, value: (one) => stateOf(one).state,
   cell: (one) => <HealthMark health={stateOf(one).health} label={t.states[stateOf(one).state]} />},
  {id: 'group', head: t.group, value: (one) => one.group, cell: (one) => one.group},
  {id: 'node', head: t.node, value: (one) => one.node, cell: (one) => one.node},
  {id: 'program', head: t.program, value: (one) => one.program, cell: (one) => <code title={one.program}>{shortHash(one.program)}</code>},
  {id: 'connections', head: t.connections, numeric: true, value: (one) => one.connections, cell: (one) => whole(one.connections)},
  {id: 'requests', head: t.requests, numeric: true, value: (one) => one.requests, cell: (one) => whole(one.requests)},
  {id: 'version', head: t.version, value: (one) => one.version, cell: (one) => one.version},
  {id: 'since', head: t.since, value: (one) => -Date.parse(one.since), cell: (one) => <Time at={one.since} />},
];

export function AgentsPage() {
  const {query} = useLocation();
  const filter = query.get('filter') ?? '';
  const sort = readSort(query.get('sort'), 'name');
  const loaded = useApi<Agents>('/api/agents', []);
  const pushed = useLive(() => live.agents);
  const value = pushed.value ?? loaded.data;
  const error = pushed.error ?? (pushed.value ? undefined : loaded.error?.message);
  const shown = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== '');
    return (value?.agents ?? []).filter((agent) => {
      const text = [agent.name, agent.group, agent.node, agent.version, t.states[stateOf(agent).state]].join(' ').toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }, [value, filter]);
  return (
    <>
      <Heading title={texts.pages.agents}>
        {value && value.published !== '' && <p class="lead">{t.published(shortHash(value.published))}</p>}
      </Heading>
      {error && <Fault text={t.fault(error)} />}
      {!value && !error && <Loading />}
      {value && value.agents.length === 0 && <Empty text={t.empty} hint={t.emptyHint} />}
      {value && value.agents.length > 0 && (
        <>
          <div class="bar">
            <input type="search" data-search value={filter} placeholder={texts.searchHint} aria-label={texts.search}
                   onInput={(event) => setQuery({filter: event.currentTarget.value})} />
            <p class="muted" role="status">{texts.objects.count(shown.length, value.agents.length)}</p>
          </div>
          {shown.length === 0 ? (
            <Empty text={texts.objects.nothingFound}>
              <button type="button" onClick={() => setQuery({filter: ''})}>{texts.objects.clear}</button>
            </Empty>
          ) : <Table label={texts.pages.agents} columns={kColumns} rows={shown} keyOf={(one) => one.name} sort={sort} onSort={(next) => setQuery({sort: writeSort(next)})} />}
        </>
      )}
    </>
  );
}
