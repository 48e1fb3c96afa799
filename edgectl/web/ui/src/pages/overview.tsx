import {type Change, type Kind, type Point, type Problem, useApi} from '../api';
import {duration, part, rate, shortHash} from '../format';
import {live, useLive} from '../live';
import {Empty, HealthMark, Heading, Section, Time, Waiting} from '../parts/basics';
import {Spark} from '../parts/chart';
import {objectPath} from '../router';
import {texts} from '../texts';
import {type Certificates, certificateHealth, kSoonDays, secondsLeft} from '../views';
import {stateOf} from './agents';
import {DaysLeft, kCertificateKinds} from './certificates';

const t = texts.overview;

function Tile({title, value, below, values, bad, hint}: {
  title: string;
  value: string;
  below: string;
  values: (number | null)[];
  bad?: boolean;
  hint?: string;
}) {
  return (
    <div class="tile" {...(hint ? {title: hint} : {})}>
      <h2>{title}</h2>
      <p class={bad ? 'figure bad' : 'figure'}>{value}</p>
      <p class="muted">{below}</p>
      <Spark values={values} wide label={`${title}, ${t.fiveMinutes}`} {...(bad ? {bad} : {})} />
    </div>
  );
}

function Tiles() {
  const {value: traffic, error} = useLive(() => live.traffic);
  if (!traffic) return <Section title={t.fiveMinutes} wide><Empty text={error ?? texts.traffic.waiting} /></Section>;
  const points = traffic.line;
  const now = points.findLast((point): point is Point => point !== null);
  const of = (what: (point: Point) => number | null) => points.map((point) => (point ? what(point) : null));
  const failing = now && now.requests > 0 ? now.errors / now.requests : now ? 0 : null;
  const refused = now && now.requests > 0 ? now.clientErrors / now.requests : now ? 0 : null;
  return (
    <div class="tiles">
      <Tile title={t.requests} value={rate(now?.requests)} below={t.fiveMinutes} values={of((point) => point.requests)} />
      <Tile title={t.errors} value={part(failing)} below={t.clientErrors(part(refused))} values={of((point) => point.errors)}
            bad={(failing ?? 0) > 0} hint={t.errorsHint} />
      <Tile title={t.latency} value={duration(now?.p99)} below={t.median(duration(now?.p50))} values={of((point) => point.p99)} />
      <Tile title={t.connections} value={rate(now?.connections)} below={t.fiveMinutes} values={of((point) => point.connections)} />
    </div>
  );
}

function Problems() {
  const loaded = useApi<{total: number; synced: boolean; items: Problem[]}>('/api/problems', ['*']);
  return (
    <Section title={t.problems}>
      <Waiting loaded={loaded}>
        {({total, synced, items}) => items.length === 0 ? <Empty text={synced ? t.noProblems : texts.loading} /> : (
          <ul class="rows">
            {items.slice(0, 12).map((one) => (
              <li key={`${one.plural}/${one.namespace}/${one.name}`}>
                <HealthMark health={one.health} />
                <div>
                  <a href={objectPath(one.plural, one.namespace, one.name)}>{one.kind} {one.namespace === '' ? one.name : `${one.namespace}/${one.name}`}</a>
                  <p class="muted">{one.problem}</p>
                </div>
              </li>
            ))}
            {total > 12 && <li class="muted">{t.moreProblems(total - 12)}</li>}
          </ul>
        )}
      </Waiting>
    </Section>
  );
}

function Groups() {
  const {value, error} = useLive(() => live.agents);
  const agents = value?.agents ?? [];
  const groups = [...new Set(agents.map((agent) => agent.group))].sort();
  return (
    <Section title={t.agents} aside={<a href="/agents">{texts.pages.agents}</a>}>
      {agents.length === 0 ? <Empty text={error ? texts.agents.fault(error) : texts.agents.empty} hint={error ? '' : texts.agents.emptyHint} /> : (
        <ul class="rows">
          {groups.map((group) => {
            const all = agents.filter((agent) => agent.group === group);
            const current = all.filter((agent) => stateOf(agent).state === 'current').length;
            return (
              <li key={group}>
                <HealthMark health={current === all.length ? 'good' : current === 0 ? 'bad' : 'warning'} label={group} />
                <a href={`/agents?filter=${encodeURIComponent(group)}`}>{t.agentsCurrent(current, all.length)}</a>
              </li>
            );
          })}
        </ul>
      )}
    </Section>
  );
}

function Changes() {
  const loaded = useApi<Change[]>('/api/history', ['*']);
  return (
    <Section title={t.changes} aside={<a href="/history">{texts.pages.history}</a>}>
      <Waiting loaded={loaded}>
        {(changes) => changes.length === 0 ? <Empty text={t.noChanges} hint={t.noChangesHint} /> : (
          <ol class="rows">
            {changes.slice(0, 8).map((change) => (
              <li key={change.program + change.at}>
                <Time at={change.at} />
                <div>
                  <p>{change.cause}{change.user !== '' && <span class="muted"> · {change.user}</span>}</p>
                  <p class="muted"><a href={`/history?program=${change.program}`}><code>{shortHash(change.program)}</code></a> {change.resources.slice(0, 3).join(', ')}{change.resources.length > 3 ? ' …' : ''}</p>
                </div>
              </li>
            ))}
          </ol>
        )}
      </Waiting>
    </Section>
  );
}

/// What ends within a month, or cannot be served with.
function EndingCertificates() {
  const loaded = useApi<Certificates>('/api/certificates', kCertificateKinds);
  const now = Date.now();
  const served = (loaded.data?.items ?? []).filter((one) => one.usedBy.length > 0);
  const soon = served.filter((one) => one.fault !== '' || (secondsLeft(one, now) ?? Infinity) <= kSoonDays * 86_400);
  return (
    <Section title={texts.certificates.endSoon} aside={<a href="/certificates">{texts.pages.certificates}</a>}>
      <Waiting loaded={loaded}>
        {() => soon.length === 0 ? <Empty text={served.length === 0 ? texts.certificates.none : texts.certificates.noneSoon(kSoonDays)} /> : (
          <ul class="rows ends-soon">
            {soon.slice(0, 6).map((one) => (
              <li key={`${one.namespace}/${one.name}`}>
                <HealthMark health={certificateHealth(one, now)} label={one.fault !== '' ? texts.certificates.faulty : texts.certificates.soon} />
                <div>
                  <a href={`/certificates?filter=${encodeURIComponent(one.name)}`}>{one.namespace === '' ? one.name : `${one.namespace}/${one.name}`}</a>
                  <p class="muted">{one.fault !== '' ? one.fault : <DaysLeft certificate={one} />} {one.names.slice(0, 2).join(', ')}</p>
                </div>
              </li>
            ))}
            {soon.length > 6 && <li class="muted">{t.moreProblems(soon.length - 6)}</li>}
          </ul>
        )}
      </Waiting>
    </Section>
  );
}

function Kinds({kinds}: {kinds: Kind[]}) {
  return (
    <Section title={t.configuration}>
      <ul class="kinds">
        {kinds.filter((kind) => kind.count > 0).map((kind) => (
          <li key={kind.plural}>
            <a href={`/objects/${kind.plural}`}>
              <strong>{kind.count.toLocaleString('en')}</strong> {kind.kind}
            </a>
            {kind.health.bad > 0 && <HealthMark health="bad" label={String(kind.health.bad)} />}
            {kind.health.warning > 0 && <HealthMark health="warning" label={String(kind.health.warning)} />}
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function OverviewPage({kinds}: {kinds: Kind[]}) {
  return (
    <>
      <Heading title={texts.pages.overview} />
      <Tiles />
      <div class="columns even">
        <div>
          <Problems />
          <Changes />
        </div>
        <div>
          <Groups />
          <EndingCertificates />
          <Kinds kinds={kinds} />
        </div>
      </div>
    </>
  );
}
