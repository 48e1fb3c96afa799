/// One object: conditions, events, what it refers to and what refers to it, and its text.
import {type Condition, type Happening, type Health, type Json, type ObjectPage, type Relation, useApi} from '../api';
import {Choice, Copy, Empty, HealthMark, Heading, Section, Time, Waiting} from '../parts/basics';
import {type Column, Table} from '../parts/table';
import {Value} from '../parts/value';
import {type Rights, rightsPath} from '../edit-api';
import {AnalysisView, kAnalysed} from '../parts/analysis';
import {Prose} from '../parts/request';
import {editPath, objectPath, setQuery, useLocation} from '../router';
import {texts} from '../texts';

const t = texts.object;
type View = 'spec' | 'status' | 'yaml';

/// Conditions that are good when False.
const kBad = new Set(['Shadowed', 'Conflicted', 'Degraded', 'PartiallyInvalid', 'OverlappingTLSConfig', 'Expired', 'Drained', 'Rejected']);

function healthOf(condition: Condition): Health {
  if (condition.status === 'Unknown') return 'pending';
  const good = (condition.status === 'True') !== kBad.has(condition.type);
  return good ? 'good' : kBad.has(condition.type) ? 'warning' : 'bad';
}

function Conditions({conditions}: {conditions: Condition[]}) {
  if (conditions.length === 0) return <Empty text={t.noConditions} />;
  const columns: Column<Condition>[] = [
    {id: 'type', head: t.type, value: (one) => one.type, cell: (one) => <HealthMark health={healthOf(one)} label={one.type} />},
    {id: 'status', head: t.status, value: (one) => one.status, cell: (one) => one.status},
    {id: 'reason', head: t.reason, value: (one) => one.reason, cell: (one) => one.reason},
    {id: 'since', head: t.since, value: (one) => one.since, cell: (one) => <Time at={one.since} />},
    {id: 'message', head: t.message, grow: true, value: (one) => one.message, cell: (one) => <span class="wrap"><Prose text={one.message} /></span>},
  ];
  if (conditions.some((one) => one.of !== '')) {
    columns.unshift({id: 'of', head: t.about, value: (one) => one.of, cell: (one) => one.of === '' ? <span class="muted">–</span> : one.of});
  }
  return <Table label={t.conditions} columns={columns} rows={conditions} keyOf={(one) => `${one.of} ${one.type}`} />;
}

const kEventColumns: Column<Happening>[] = [
  {id: 'last', head: t.last, value: (one) => one.last, cell: (one) => <Time at={one.last} />},
  {id: 'reason', head: t.reason, value: (one) => one.reason,
   cell: (one) => <HealthMark health={one.type === 'Warning' ? 'warning' : 'good'} label={one.reason} />},
  {id: 'count', head: t.count, numeric: true, value: (one) => one.count, cell: (one) => one.count},
  {id: 'message', head: t.message, grow: true, value: (one) => one.message, cell: (one) => <span class="wrap">{one.message}</span>},
  {id: 'from', head: t.from, value: (one) => one.from, cell: (one) => one.from},
];

/// One entry for an object that several fields name.
function merged(relations: Relation[]): Relation[] {
  const found = new Map<string, Relation>();
  for (const one of relations) {
    const key = `${one.kind} ${one.namespace}/${one.name}`;
    const other = found.get(key);
    found.set(key, other ? {...other, field: `${other.field}, ${one.field}`} : one);
  }
  return [...found.values()];
}

function Relations({title, relations}: {title: string; relations: Relation[]}) {
  return (
    <Section title={title}>
      {relations.length === 0 ? <Empty text={t.noRelations} /> : (
        <ul class="rows">
          {merged(relations).map((one) => {
            const name = one.namespace === '' ? one.name : `${one.namespace}/${one.name}`;
            return (
              <li key={`${one.kind} ${name}`}>
                <span class="tag">{one.kind}</span>
                <div>
                  {one.plural !== '' && one.known !== false ? <a href={objectPath(one.plural, one.namespace, one.name)}>{name}</a> : <span>{name}</span>}
                  <span class="muted"> {one.field}</span>
                  {one.known === false && <> <HealthMark health="bad" label={t.missing} /></>}
                </div>
              </li>
            );
          })}
        </ul>
      )}
    </Section>
  );
}

function hostOf(object: ObjectPage): string | undefined {
  const spec = object.object.spec as {[name: string]: Json} | undefined;
  const hosts = spec?.hostnames;
  const first = Array.isArray(hosts) ? hosts[0] : undefined;
  return typeof first === 'string' && first !== '' ? first.replace('*', 'www') : undefined;
}

function Body({page}: {page: ObjectPage}) {
  const {query} = useLocation();
  const view = (query.get('view') ?? 'spec') as View;
  const host = hostOf(page);
  return (
    <>
      <p class="facts">
        <HealthMark health={page.health} />
        <span class="muted">{t.created('')}<Time at={page.created} /></span>
        {host && <a href={`/explain?request=${encodeURIComponent(`GET http://${host}/`)}`}>{t.explain}</a>}
      </p>
      {page.problem !== '' && <p class={`problem ${page.health}`}>{page.problem}</p>}
      <div class="columns">
        <div>
          <Section title={t.conditions}><Conditions conditions={page.conditions} /></Section>
          <Section title={t.events}>
            {page.eventsFault !== '' ? <Empty text={t.eventsFault(page.eventsFault)} />
              : page.events.length === 0 ? <Empty text={t.noEvents} />
              : <Table label={t.events} columns={kEventColumns} rows={page.events} keyOf={(one) => `${one.last} ${one.reason} ${one.message}`} />}
          </Section>
        </div>
        <div>
          <Relations title={t.uses} relations={page.uses} />
          <Relations title={t.usedBy} relations={page.usedBy} />
        </div>
      </div>
      {kAnalysed.has(page.kind) && <AnalysisView plural={page.plural} kind={page.kind} namespace={page.namespace} name={page.name} />}
      <section class="card" aria-label={t.views}>
        <div class="card-head">
          <Choice<View> label={t.views} value={view} options={[['spec', t.spec], ['status', t.statusTab], ['yaml', t.yaml]]}
                        onChange={(next) => setQuery({view: next === 'spec' ? '' : next})} />
          {view === 'yaml' && <Copy text={page.yaml} />}
        </div>
        {view === 'yaml' ? <pre class="yaml" tabIndex={0} role="region" aria-label={t.yaml}><code>{page.yaml}</code></pre>
          : <div class="value"><Value value={(view === 'spec' ? page.object.spec : page.object.status) ?? {}} /></div>}
        {page.yaml.includes('<redacted>') && <p class="muted note">{t.hidden}</p>}
      </section>
    </>
  );
}

export function ObjectView({plural, namespace, name}: {plural: string; namespace: string; name: string}) {
  const path = `/api${objectPath(plural, namespace, name)}`;
  const loaded = useApi<ObjectPage>(path, [plural]);
  const rights = useApi<Rights>(rightsPath(plural, namespace), []).data;
  return (
    <>
      <nav class="crumbs" aria-label={plural}>
        <a href={`/objects/${plural}`}>{loaded.data?.kind ?? plural}</a>
        {namespace !== '' && <a href={`/objects/${plural}?namespace=${encodeURIComponent(namespace)}`}>{namespace}</a>}
      </nav>
      <Heading title={name}>
        {loaded.data && (
          <p class="buttons">
            {rights?.update && <a class="button" href={editPath(plural, namespace, name)}>{texts.edit.edit}</a>}
            {rights?.delete && <a class="button" href={editPath(plural, namespace, name, 'delete')}>{texts.edit.remove}</a>}
          </p>
        )}
      </Heading>
      {loaded.error?.status === 404 ? <Empty text={t.gone}><a href={`/objects/${plural}`}>{plural}</a></Empty>
        : <Waiting loaded={loaded}>{(page) => <Body page={page} />}</Waiting>}
    </>
  );
}
