/// One trace as a waterfall: each span below its parent, by the time that it began and took.
import {useMemo} from 'preact/hooks';
import {useApi} from '../api';
import {duration} from '../format';
import {Empty, Heading, HealthMark, Time, Waiting} from '../parts/basics';
import {NamedLink} from '../parts/links';
import {setQuery, useLocation} from '../router';
import {texts} from '../texts';
import {explainRequestPath, type Span, type Trace} from '../views';

const t = texts.trace;
const kMostDrawn = 1000;

interface Line {
  span: Span;
  depth: number;
  orphan: boolean;
}

/// Parents before their children, siblings by time. A span whose parent is missing stands at the top.
export function treeOf(spans: Span[]): Line[] {
  const known = new Map(spans.map((span) => [span.id, span]));
  const children = new Map<string, Span[]>();
  const tops: Span[] = [];
  for (const span of spans) {
    if (span.parent === '' || !known.has(span.parent) || span.parent === span.id) tops.push(span);
    else children.set(span.parent, [...(children.get(span.parent) ?? []), span]);
  }
  const byTime = (a: Span, b: Span) => a.offsetMicros - b.offsetMicros || (a.id < b.id ? -1 : 1);
  const lines: Line[] = [];
  const seen = new Set<string>();
  const left = [...tops].sort(byTime).reverse().map((span) => ({span, depth: 0}));
  for (let one = left.pop(); one; one = left.pop()) {
    if (seen.has(one.span.id)) continue;
    seen.add(one.span.id);
    lines.push({...one, orphan: one.depth === 0 && one.span.parent !== ''});
    const below = [...(children.get(one.span.id) ?? [])].sort(byTime).reverse();
    for (const span of below) left.push({span, depth: one.depth + 1});
  }
  return lines;
}

const tagOf = (span: Span, ...names: string[]) => names.map((name) => span.tags.find((tag) => tag.name === name)?.value).find((value) => value !== undefined && value !== '') ?? '';

function Details({span}: {span: Span}) {
  const route = tagOf(span, 'edge.route');
  const backend = tagOf(span, 'edge.backend');
  const host = tagOf(span, 'server.address');
  const method = tagOf(span, 'http.request.method', 'http.method');
  const explain = span.kind === 'server' && host !== '' && method !== '' ? explainRequestPath({
    method, scheme: tagOf(span, 'url.scheme') || 'http', host, port: Number(tagOf(span, 'server.port')) || 0,
    path: tagOf(span, 'url.path') || '/', query: '', source: tagOf(span, 'client.address'),
  }) : '';
  return (
    <div class="span-details">
      {span.message !== '' && <p class="bad-text">{span.message}</p>}
      <p class="ways">
        {explain !== '' && <a href={explain}>{t.explain}</a>}
        {route !== '' && <span>{t.route} <NamedLink part="route" name={route} /></span>}
        {backend !== '' && <span>{t.backend} <NamedLink part="backend" name={backend} /></span>}
      </p>
      <dl class="fields">
        <div class="leaf"><dt>{t.span}</dt><dd><code>{span.id}</code></dd></div>
        {span.kind !== '' && <div class="leaf"><dt>{t.kind}</dt><dd><code>{span.kind}</code></dd></div>}
        <div class="leaf"><dt>{t.begins}</dt><dd><code>{duration(span.offsetMicros / 1e6)}</code></dd></div>
        {span.tags.map((tag) => <div key={tag.name} class="leaf"><dt>{tag.name}</dt><dd><code>{tag.value}</code></dd></div>)}
      </dl>
    </div>
  );
}

/// Behind the bar; where there is no room, before it or within.
function Took({from, wide, text}: {from: number; wide: number; text: string}) {
  const end = Math.min(from + wide, 100);
  if (end <= 80) return <span class="took" style={{left: `${end}%`}}>{text}</span>;
  if (from >= 20) return <span class="took" style={{right: `${100 - from}%`}}>{text}</span>;
  return <span class="took inside" style={{right: `${100 - end}%`}}>{text}</span>;
}

function Waterfall({trace}: {trace: Trace}) {
  const {query} = useLocation();
  const open = query.get('span') ?? '';
  const lines = useMemo(() => treeOf(trace.spans), [trace]);
  const whole = Math.max(trace.durationMicros, 1);
  const move = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const item = (event.target as Element).closest('li');
    const next = event.key === 'ArrowDown' ? item?.nextElementSibling : item?.previousElementSibling;
    const button = next?.querySelector<HTMLElement>('button');
    if (!button) return;
    event.preventDefault();
    button.focus();
  };
  return (
    <section class="card waterfall" aria-label={t.spans}>
      <div class="scale" aria-hidden="true">
        <span />
        <span class="marks">{[0, 0.25, 0.5, 0.75, 1].map((part) => <span key={part}>{duration((whole * part) / 1e6)}</span>)}</span>
      </div>
      <ol onKeyDown={move}>
        {lines.slice(0, kMostDrawn).map(({span, depth, orphan}) => {
          const from = (Math.max(0, span.offsetMicros) / whole) * 100;
          const wide = Math.max(0.3, (span.durationMicros / whole) * 100);
          const shown = span.id === open;
          return (
            <li key={span.id}>
              <button type="button" class={span.error ? 'span bad' : 'span'} aria-expanded={shown} onClick={() => setQuery({span: shown ? '' : span.id})}>
                <span class="name" style={{paddingLeft: `${Math.min(depth, 12) * 0.9}rem`}}>
                  {span.error ? <HealthMark health="bad" label={span.operation} /> : <span>{span.operation}</span>}
                  <span class="muted"> {span.service}{orphan && ` · ${t.orphan}`}</span>
                </span>
                <span class="track">
                  <span class="bar-of" style={{left: `${Math.min(from, 99.7)}%`, width: `${Math.min(wide, 100 - Math.min(from, 99.7))}%`}} />
                  <Took from={from} wide={wide} text={duration(span.durationMicros / 1e6)} />
                </span>
              </button>
              {shown && <Details span={span} />}
            </li>
          );
        })}
      </ol>
      {lines.length > kMostDrawn && <p class="muted note">{t.leftOut(lines.length - kMostDrawn)}</p>}
    </section>
  );
}

export function TracePage({id}: {id: string}) {
  const loaded = useApi<Trace>(`/api/traces/${encodeURIComponent(id)}`, []);
  const missing = loaded.error?.status === 404;
  const first = useMemo(() => (loaded.data ? treeOf(loaded.data.spans)[0]?.span : undefined), [loaded.data]);
  const failed = loaded.data?.spans.filter((span) => span.error).length ?? 0;
  return (
    <>
      <p class="crumbs"><a href="/traces">{texts.pages.traces}</a></p>
      <Heading title={first?.operation ?? t.title} />
      {missing ? (
        <Empty text={t.gone(id)} hint={t.goneHint}><button type="button" onClick={loaded.reload}>{texts.retry}</button></Empty>
      ) : (
        <Waiting loaded={loaded}>
          {(trace) => (
            <>
              <div class="facts">
                <HealthMark health={failed > 0 ? 'bad' : 'good'} label={failed > 0 ? texts.traces.errors(failed) : texts.traces.noErrors} />
                <Time at={trace.start} />
                <span>{duration(trace.durationMicros / 1e6)}</span>
                <span>{t.count(trace.spans.length, new Set(trace.spans.map((span) => span.service)).size)}</span>
                <code class="muted">{trace.traceID}</code>
              </div>
              {trace.incomplete && <p class="problem warning">{t.incomplete}</p>}
              <Waterfall trace={trace} />
            </>
          )}
        </Waiting>
      )}
    </>
  );
}
