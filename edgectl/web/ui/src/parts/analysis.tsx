/// What the compiler knows of a route or a gateway: rules that nothing reaches, with a request, and what lookups cost.
import {useApi} from '../api';
import type {Analysis} from '../edit-api';
import {bytes, whole} from '../format';
import {texts} from '../texts';
import {Empty, Fault, Loading, Section} from './basics';
import {Findings} from './findings';
import {type Column, Table} from './table';

const t = texts.analysis;
type HostCost = Analysis['cost'][number];

/// Kinds whose objects are part of a program's tables.
export const kAnalysed = new Set(['ProxyRoute', 'ProxyGateway', 'HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute', 'UDPRoute', 'Gateway', 'Ingress']);

function columnsOf(route: boolean): Column<HostCost>[] {
  const columns: Column<HostCost>[] = [
    {id: 'host', head: t.host, value: (one) => one.host, cell: (one) => one.host},
    {id: 'listener', head: t.listener, value: (one) => one.listener, cell: (one) => one.listener},
    {id: 'rules', head: t.rules, numeric: true, value: (one) => one.rules, cell: (one) => whole(one.rules)},
    {id: 'conditions', head: t.conditions, numeric: true, value: (one) => one.bound.conditions, cell: (one) => whole(one.bound.conditions)},
    {id: 'probes', head: t.probes, numeric: true, value: (one) => one.bound.pathProbes, cell: (one) => whole(one.bound.pathProbes)},
    {id: 'sets', head: t.sets, numeric: true, value: (one) => one.bound.patternSets, cell: (one) => whole(one.bound.patternSets)},
    {id: 'size', head: t.size, numeric: true, value: (one) => one.tableBytes, cell: (one) => bytes(one.tableBytes)},
    {id: 'longest', head: t.longest, value: (one) => one.longestPath, cell: (one) => <code class="wrap">{one.longestPath}</code>},
  ];
  if (route) columns.splice(3, 0, {id: 'own', head: t.own, numeric: true, value: (one) => one.ownRules, cell: (one) => whole(one.ownRules)});
  return columns;
}

export function AnalysisView({plural, kind, namespace, name}: {plural: string; kind: string; namespace: string; name: string}) {
  const path = `/api/analysis/${[plural, namespace, name].map(encodeURIComponent).join('/')}`;
  const {data, error, reload} = useApi<Analysis>(path, [plural]);
  const route = !kind.endsWith('Gateway');
  const patterns = data?.cost.flatMap((host) => host.patterns) ?? [];
  return (
    <>
      <Section title={t.findings} wide>
        {error && <Fault text={error.message} retry={reload} />}
        {!data && !error && <Loading />}
        {data?.notes.map((note) => <p key={note} class="muted">{note}</p>)}
        {data && (data.findings.length === 0 ? <Empty text={t.noFindings} /> : <Findings label={t.findings} list={data.findings.map((one) => ({...one, resource: ''}))} />)}
      </Section>
      {data && (
        <Section title={t.cost} wide>
          <p class="muted">{t.costHint}</p>
          {data.cost.length === 0 ? <Empty text={t.noCost} />
            : <Table label={t.cost} columns={columnsOf(route)} rows={data.cost} keyOf={(one) => `${one.listener} ${one.host}`} />}
          {patterns.length > 0 && (
            <>
              <h3>{t.patterns}</h3>
              <ul class="plain">
                {patterns.map((one, index) => <li key={index}><code class="wrap">{one.pattern}</code> <span class="muted">{one.subject} · {t.positions} {whole(one.positions)}</span></li>)}
              </ul>
            </>
          )}
        </Section>
      )}
    </>
  );
}

