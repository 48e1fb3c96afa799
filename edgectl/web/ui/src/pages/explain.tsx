/// Explains a request: the way through the program, and why each other rule does not match.
import {useEffect, useState} from 'preact/hooks';
import {ApiError, call, type Explanation, type Health, type Rule} from '../api';
import {readCurl} from '../curl';
import {Empty, Fault, HealthMark, Heading, Section} from '../parts/basics';
import {type Column, Table} from '../parts/table';
import {shortHash} from '../format';
import {explainPath, navigate, partPath, useLocation} from '../router';
import {texts} from '../texts';

const t = texts.explain;

interface Form {
  request: string;
  headers: string;
  claims: string;
  source: string;
  port: string;
  program: string;  ///< of the history; empty: the configuration as it is now
}

interface Reply {
  explanation: Explanation;
  notes: string[];
}

const kHealth: Record<Rule['verdict'], Health> = {won: 'good', failed: 'unknown', 'not-tried': 'unknown', 'other-path': 'unknown'};

function PartLink({part, name}: {part: 'route' | 'gateway' | 'backend'; name: string}) {
  return name.includes('/') ? <a href={partPath(part, name)}>{name}</a> : <span>{name}</span>;
}

function why(rule: Rule): string {
  if (rule.verdict === 'failed') return t.whyFailed(rule.failed, rule.actual);
  if (rule.verdict === 'not-tried') return t.whyNotTried;
  return rule.verdict === 'won' ? '' : t.whyOtherPath;
}

const kRuleColumns: Column<Rule>[] = [
  {id: 'verdict', head: t.verdict, value: (rule) => rule.verdict, cell: (rule) => <HealthMark health={kHealth[rule.verdict]} label={t.verdicts[rule.verdict]} />},
  {id: 'route', head: t.steps.route, value: (rule) => rule.route, cell: (rule) => <><PartLink part="route" name={rule.route} /> <span class="muted">{t.ruleName(rule.rule, rule.match)}</span></>},
  {id: 'where', head: t.where, value: (rule) => rule.where, cell: (rule) => <code>{rule.where}</code>},
  {id: 'condition', head: t.steps.condition, wide: true, value: (rule) => rule.condition, cell: (rule) => (rule.condition === '' ? <span class="muted">–</span> : <code class="wrap">{rule.condition}</code>)},
  {id: 'why', head: t.why, grow: true, value: (rule) => why(rule), cell: (rule) => <span class="wrap">{why(rule)}</span>},
];

function Step({name, children}: {name: string; children: preact.ComponentChildren}) {
  return <li><span class="step">{name}</span><div>{children}</div></li>;
}

function List({name, items}: {name: string; items: string[]}) {
  return items.length === 0 ? null : <Step name={name}><ul class="plain">{items.map((item) => <li key={item}>{item}</li>)}</ul></Step>;
}

function outcome(of: Explanation): {text: string; health: Health} | null {
  if (of.handshake?.answer === 'refused') return {text: t.handshakeRefused, health: 'bad'};
  if (of.pathRefused) return {text: t.pathRefused, health: 'bad'};
  if (of.redirect) return {text: t.redirect(of.redirect.status, of.redirect.location), health: 'good'};
  if (of.listener === '') return {text: t.noListener, health: 'bad'};
  if (!of.matched) return {text: t.noMatch, health: 'bad'};
  return of.denied ? {text: t.denied, health: 'bad'} : null;
}

function Way({of}: {of: Explanation}) {
  const weights = of.backends.reduce((sum, backend) => sum + backend.weight, 0);
  return (
    <ol class="way">
      <Step name={t.steps.request}><code class="wrap">{of.request}</code></Step>
      {of.handshake && <Step name={t.steps.handshake}>{of.handshake.text}</Step>}
      <Step name={t.steps.listener}>{of.listener === '' ? texts.none : <><span>{of.listener}</span> <code>{of.bind}</code></>}</Step>
      {of.gateway !== '' && <Step name={t.steps.gateway}><PartLink part="gateway" name={of.gateway} /></Step>}
      {of.winner && (
        <Step name={t.steps.route}>
          <PartLink part="route" name={of.winner.route} /> <span class="muted">{t.ruleName(of.winner.rule, of.winner.match)}</span>
          <p><code>{of.winner.where}</code>{of.winner.condition !== '' && <> <code class="wrap">{of.winner.condition}</code></>}</p>
        </Step>
      )}
      <List name={t.steps.policies} items={of.policies} />
      <List name={t.steps.limits} items={of.limits} />
      <List name={t.steps.filters} items={of.filters} />
      {of.backends.length > 0 && !of.redirect && (
        <Step name={t.steps.backends}>
          <ul class="plain">
            {of.backends.map((backend) => (
              <li key={backend.name}>
                {backend.name === '' ? <HealthMark health="bad" label={t.unresolved} /> : <PartLink part="backend" name={backend.name} />}
                {of.backends.length > 1 && <span class="muted"> {t.weight(`${backend.weight}/${weights}`)}</span>}
                {of.backends.length > 1 && backend.canary && <> <span class="tag">{t.canary}</span></>}
              </li>
            ))}
          </ul>
        </Step>
      )}
    </ol>
  );
}

function Result({reply}: {reply: Reply}) {
  const [all, showAll] = useState(false);
  const of = reply.explanation;
  const told = outcome(of);
  const others = of.hosts.reduce((sum, host) => sum + host.rules.filter((rule) => rule.verdict === 'other-path').length, 0);
  return (
    <>
      {told && <p class={`outcome ${told.health}`} role="status"><HealthMark health={told.health} label={told.text} /></p>}
      {reply.notes.map((note) => <Fault key={note} text={note} />)}
      <Section title={t.winner} wide><Way of={of} /></Section>
      <Section title={t.rules} wide aside={others > 0 && (
        <label class="check"><input type="checkbox" checked={all} onChange={(event) => showAll(event.currentTarget.checked)} /> {t.others(others)}</label>
      )}>
        {of.hosts.map((host) => {
          const rules = host.rules.filter((rule) => all || rule.verdict !== 'other-path');
          return (
            <div key={host.pattern} class="host">
              <h3>{t.host(host.pattern)}{!host.tried && <span class="muted"> · {t.hostNotTried}</span>}</h3>
              {rules.length > 0 && <Table label={t.host(host.pattern)} columns={kRuleColumns} rows={rules} keyOf={(rule) => `${rule.route} ${rule.rule} ${rule.match} ${rule.where}`} />}
            </div>
          );
        })}
        <p class="muted note">{t.engines}: {of.engines.map((engine) => `${engine.name} ${engine.state}`).join(', ')}. {of.agree ? t.agree : t.disagree}</p>
      </Section>
    </>
  );
}

function formOf(query: URLSearchParams): Form {
  return {request: query.get('request') ?? '', headers: query.getAll('header').join('\n'), claims: query.getAll('claim').join('\n'), source: query.get('source') ?? '', port: query.get('port') ?? '',
          program: query.get('program') ?? ''};
}

function linesOf(text: string): string[] {
  return text.split('\n').map((line) => line.trim()).filter((line) => line !== '');
}

function pathOf(form: Form): string {
  return explainPath({
    request: form.request.trim(), headers: linesOf(form.headers), claims: linesOf(form.claims),
    source: form.source.trim(), port: form.port.trim(), program: form.program,
  });
}

export function ExplainPage() {
  const {query} = useLocation();
  const asked = query.toString();
  const [form, edit] = useState(() => formOf(query));
  const [reply, setReply] = useState<Reply>();
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  const [ignored, setIgnored] = useState<string[] | null>(null);
  const [turn, again] = useState(0);

  useEffect(() => {
    const next = formOf(new URLSearchParams(asked));
    edit(next);
    setFault('');
    if (next.request === '') {
      setReply(undefined);
      return;
    }
    const controller = new AbortController();
    setBusy(true);
    const body = {request: next.request, headers: linesOf(next.headers), claims: linesOf(next.claims), source: next.source,
                  port: next.port === '' ? 0 : Number(next.port)};
    const path = next.program === '' ? '/api/explain' : `/api/history/${encodeURIComponent(next.program)}/explain`;
    call<Reply>(path, body, controller.signal).then(
      (got) => {
        setReply(got);
        setBusy(false);
      },
      (error: ApiError) => {
        if (controller.signal.aborted) return;
        setReply(undefined);
        setFault(error.message);
        setBusy(false);
      },
    );
    return () => controller.abort();
  }, [asked, turn]);

  const submit = (event: Event) => {
    event.preventDefault();
    const curl = readCurl(form.request);
    setIgnored(curl ? curl.ignored : null);
    const next = curl ? {...form, request: curl.request, headers: curl.headers.join('\n')} : form;
    const to = pathOf(next);
    if (to === `/explain?${asked}`) again(turn + 1);
    else navigate(to);
  };
  const set = (name: keyof Form) => (event: {currentTarget: {value: string}}) => edit({...form, [name]: event.currentTarget.value});
  const submitByKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey || !event.shiftKey)) {
      event.preventDefault();
      (event.currentTarget as HTMLTextAreaElement).form?.requestSubmit();
    }
  };
  return (
    <>
      <Heading title={texts.pages.explain}><p class="lead">{t.lead}</p></Heading>
      <form class="explain" onSubmit={submit}>
        <label for="request">{t.request}</label>
        <div class="request">
          <textarea id="request" data-search rows={form.request.includes('\n') ? 4 : 1} required spellcheck={false} value={form.request} placeholder={t.requestHint}
                    onInput={set('request')} onKeyDown={submitByKey} />
          <button type="submit" class="primary">{t.submit}</button>
        </div>
        {ignored && <p class="muted" role="status">{t.fromCurl}{ignored.length > 0 && `. ${t.ignored(ignored.join(', '))}`}</p>}
        <details open={form.headers !== '' || form.claims !== '' || form.source !== '' || form.port !== ''}>
          <summary>{t.more}</summary>
          <div class="more">
            <label>{t.headers}<textarea rows={3} spellcheck={false} value={form.headers} placeholder={t.headersHint} onInput={set('headers')} /></label>
            <label>{t.claims}<textarea rows={2} spellcheck={false} value={form.claims} placeholder={t.claimsHint} onInput={set('claims')} /></label>
            <label>{t.source}<input value={form.source} placeholder="127.0.0.1" onInput={set('source')} /></label>
            <label>{t.port}<input inputMode="numeric" pattern="[0-9]*" value={form.port} placeholder={t.portHint} onInput={set('port')} /></label>
          </div>
        </details>
      </form>
      {form.program !== '' && (
        <p class="bar"><HealthMark health="pending" label={t.under(shortHash(form.program))} />
          <a href={pathOf({...form, program: ''})}>{t.underNow}</a></p>
      )}
      {busy && <p class="muted" role="status">{t.working}</p>}
      {fault !== '' && <Fault text={fault} />}
      {reply && <Result reply={reply} />}
      {!reply && !busy && fault === '' && <Empty text={t.emptyHint} />}
    </>
  );
}
