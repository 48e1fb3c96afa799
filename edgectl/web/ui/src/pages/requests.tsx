/// The access log of all agents: filtered, followed, each line with the ways on from it.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {ApiError, call, type Health} from '../api';
import {absolute, duration, whole} from '../format';
import {agentPath} from './agents';
import {Empty, Fault, HealthMark, Heading, Loading} from '../parts/basics';
import {NamedLink} from '../parts/links';
import {type Column, Table} from '../parts/table';
import {setQuery, useLocation} from '../router';
import {texts} from '../texts';
import {type AccessLog, explainRequestPath, type LoggedRequest, tracePath} from '../views';

const t = texts.requests;
const kPoll = 1000;
const kMostShown = 2000;
const kFilters = ['host', 'route', 'backend', 'status', 'client', 'minDuration', 'method', 'path'] as const;
type Filters = Record<(typeof kFilters)[number], string>;

function healthOf(status: number | undefined): Health {
  if (!status) return 'unknown';
  return status >= 500 ? 'bad' : status >= 400 ? 'warning' : 'good';
}

const clock = new Intl.DateTimeFormat('en-GB', {hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3});

function timeOf(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? iso : clock.format(at);
}

const urlOf = (one: LoggedRequest) => `${one.host ?? ''}${one.path ?? ''}${one.query ? `?${one.query}` : ''}`;

const kColumns: Column<LoggedRequest>[] = [
  {id: 'time', head: t.time, value: (one) => one.time, cell: (one) => <time dateTime={one.time} title={absolute(one.time)}>{timeOf(one.time)}</time>},
  {id: 'status', head: t.status, value: (one) => one.status ?? 0,
   cell: (one) => <span title={one.reason ?? ''}><HealthMark health={healthOf(one.status)} label={one.status ? String(one.status) : t.noStatus} /></span>},
  {id: 'method', head: t.method, value: (one) => one.method ?? '', cell: (one) => one.method ?? one.protocol ?? '–'},
  {id: 'url', head: t.url, value: urlOf, cell: (one) => <span class="clip" title={urlOf(one)}>{urlOf(one)}</span>},
  {id: 'links', head: t.ways, value: () => '', cell: (one) => (
    <span class="ways">
      {one.method && one.host && (
        <a href={explainRequestPath({method: one.method, scheme: one.scheme ?? 'http', host: one.host, port: one.port, path: one.path ?? '/', query: one.query ?? '', source: one.client ?? ''})}
           aria-label={t.explainOne(urlOf(one))}>{t.explain}</a>
      )}
      {one.trace_id && <a href={tracePath(one.trace_id)} aria-label={t.traceOne(urlOf(one))}>{t.trace}</a>}
    </span>
  )},
  {id: 'total', head: t.total, numeric: true, value: (one) => one.total_ms ?? 0, cell: (one) => duration(one.total_ms === undefined ? null : one.total_ms / 1000)},
  {id: 'route', head: t.route, value: (one) => one.route ?? '', cell: (one) => <NamedLink part="route" name={one.route ?? ''} />},
  {id: 'backend', head: t.backend, value: (one) => one.backend ?? '', cell: (one) => <><NamedLink part="backend" name={one.backend ?? ''} />{one.endpoint && <span class="muted"> {one.endpoint}{(one.attempts ?? 1) > 1 && ` (${t.attempts(one.attempts!)})`}</span>}</>},
  {id: 'reason', head: t.reason, value: (one) => one.reason ?? '', cell: (one) => one.reason ?? <span class="muted">–</span>},
  {id: 'client', head: t.client, value: (one) => one.client ?? '', cell: (one) => one.client ?? '–'},
  {id: 'agent', head: t.agent, value: (one) => one.agent, cell: (one) => <a href={agentPath(one.agent)}>{one.agent}</a>},
];

interface Tail {
  lines: LoggedRequest[];
  next: number | null;
  missed: number;
  kept: number;
  faults: string[];
}

/// Reads what matches, and then what comes while `follow` and the page is seen.
function useTail(filters: Filters, follow: boolean): {tail: Tail | null; error: string; retry: () => void} {
  const [tail, set] = useState<Tail | null>(null);
  const [error, fail] = useState('');
  const [turn, again] = useState(0);
  const asked = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== '')).toString();
  const next = useRef<number | null>(null);
  useEffect(() => {
    next.current = null;
    set(null);
  }, [asked, turn]);
  useEffect(() => {
    if (!follow && next.current !== null) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async () => {
      const query = new URLSearchParams(asked);
      if (next.current !== null) query.set('after', String(next.current));
      query.set('limit', next.current === null ? '500' : '1000');
      let wait = kPoll;
      try {
        if (next.current === null || document.visibilityState === 'visible') {
          const reply = await call<AccessLog>(`/api/access-log?${query.toString()}`, undefined, controller.signal);
          const first = next.current === null;
          next.current = reply.next;
          if (reply.more && !first) wait = 0;
          fail('');
          set((old) => ({
            lines: [...reply.lines.reverse(), ...(first ? [] : old?.lines ?? [])].slice(0, kMostShown),
            next: reply.next, missed: first ? 0 : (old?.missed ?? 0) + reply.missed, kept: reply.kept, faults: reply.faults,
          }));
        }
      } catch (fault) {
        if (controller.signal.aborted) return;
        fail((fault as ApiError).message);
        // What was typed is wrong: asking again does not change it.
        if ((fault as ApiError).status === 400) return;
        wait = 3 * kPoll;
      }
      if (follow) timer = setTimeout(() => void read(), wait);
    };
    // A filter that is being typed is not asked for at each key.
    timer = setTimeout(() => void read(), next.current === null && asked !== '' ? 200 : 0);
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [asked, follow, turn]);
  return {tail, error, retry: () => again(turn + 1)};
}

export function RequestsPage() {
  const {query} = useLocation();
  const filters = Object.fromEntries(kFilters.map((name) => [name, query.get(name) ?? ''])) as Filters;
  const follow = query.get('follow') !== 'off';
  const {tail, error, retry} = useTail(filters, follow);
  const lines = tail?.lines ?? [];
  const rows = useMemo(() => [...lines].sort((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : b.id - a.id)), [lines]);
  const any = kFilters.some((name) => filters[name] !== '');
  const clear = () => setQuery(Object.fromEntries(kFilters.map((name) => [name, ''])));
  return (
    <>
      <Heading title={texts.pages.requests}>
        <button type="button" aria-pressed={follow} onClick={() => setQuery({follow: follow ? 'off' : ''})}>{follow ? t.pause : t.follow}</button>
        <p class="lead">{t.lead}</p>
      </Heading>
      <form class="filters" role="search" aria-label={t.filters} onSubmit={(event) => event.preventDefault()}>
        {kFilters.map((name, index) => (
          <label key={name}>{t.names[name]}
            <input value={filters[name]} placeholder={t.hints[name]} spellcheck={false} autocomplete="off" {...(index === 0 ? {'data-search': true} : {})}
                   onInput={(event) => setQuery({[name]: event.currentTarget.value})} />
          </label>
        ))}
      </form>
      {error !== '' && <Fault text={error} retry={retry} />}
      {(tail?.faults ?? []).map((fault) => <Fault key={fault} text={fault} />)}
      {tail === null && error === '' && <Loading />}
      {tail !== null && (
        <>
          <p class="muted state" role="status">{follow ? t.following : t.paused} · {t.count(lines.length, tail.kept)}{tail.missed > 0 && ` · ${t.missed(whole(tail.missed))}`}</p>
          {rows.length === 0
            ? any ? <Empty text={t.nothing}><button type="button" onClick={clear}>{texts.objects.clear}</button></Empty>
              : <Empty text={t.empty} hint={t.emptyHint}><a href="/objects/proxygateways">{t.emptyLink}</a></Empty>
            : <Table label={texts.pages.requests} columns={kColumns} rows={rows} keyOf={(one) => String(one.id)} />}
        </>
      )}
    </>
  );
}
