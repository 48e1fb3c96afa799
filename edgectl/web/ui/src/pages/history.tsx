/// Programs of the past: what each change did, what a request did under one, any two compared, and the way back.
import {useEffect, useMemo, useState} from 'preact/hooks';
import {type Agents, type ApiError, call, type Change, type Health, type Session, useApi} from '../api';
import {ownClaims} from '../claims';
import {readCurl} from '../curl';
import type {Difference} from '../edit-api';
import {shortHash} from '../format';
import {Ask, Empty, Fault, HealthMark, Heading, Loading, Section, Time, Waiting} from '../parts/basics';
import {DifferenceView, type Sides} from '../parts/difference';
import {explainPath, navigate, setQuery, useLocation} from '../router';
import {texts} from '../texts';

const t = texts.history;
const kLive = 'live';
/// The group of agents that are in no other.
const kDefaultGroup = 'default';

/// What changes between two programs; `live` is the configuration as it is now, as agents of the group are given it.
function Compared({before, after, group, sides}: {before: string; after: string; group: string; sides: Sides}) {
  const [state, set] = useState<{of: string; difference?: Difference; fault?: string}>({of: ''});
  const [turn, again] = useState(0);
  const of = `${before} ${after} ${group}`;
  useEffect(() => {
    const controller = new AbortController();
    call<Difference>('/api/compare', {before, after, group, claims: ownClaims()}, controller.signal).then(
      (difference) => set({of, difference}),
      (error: ApiError) => !controller.signal.aborted && set({of, fault: error.message}),
    );
    return () => controller.abort();
  }, [of, turn]);
  if (state.of !== of) return <p class="muted" role="status">{texts.difference.comparing}</p>;
  if (state.fault !== undefined) return <Fault text={state.fault} retry={() => again(turn + 1)} />;
  return state.difference ? <DifferenceView difference={state.difference} sides={sides} /> : null;
}

function stateOf(change: Change): {health: Health; text: string} | null {
  if (change.pinned) return {health: 'warning', text: t.pinned};
  return change.serving ? {health: 'good', text: t.serving} : null;
}

function Rows({changes, chosen, choose}: {changes: Change[]; chosen: Change; choose: (change: Change) => void}) {
  return (
    <div class="table" tabIndex={0} role="region" aria-label={texts.pages.history}>
      <table>
        <thead><tr>{[t.at, t.program, t.cause, t.by, t.state].map((head) => <th key={head} scope="col">{head}</th>)}</tr></thead>
        <tbody>
          {changes.map((change) => {
            const state = stateOf(change);
            return (
              <tr key={change.program} data-row {...(change === chosen ? {'aria-current': 'true'} as const : {})} class={change === chosen ? 'chosen' : ''}>
                <td><Time at={change.at} /></td>
                <td><button type="button" class="quiet inline" aria-pressed={change === chosen} onClick={() => choose(change)}><code>{shortHash(change.program)}</code></button></td>
                <td class="wrap">{change.cause}</td>
                <td>{change.user === '' ? <span class="muted">{t.nobody}</span> : change.user}</td>
                <td>{state && <HealthMark health={state.health} label={state.text} />}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function RollBack({change, serving, pinned, group, done}: {
  change: Change;
  serving: Change | undefined;
  pinned: Change | undefined;
  group: string;
  done: (said: string) => void;
}) {
  const [asking, ask] = useState<'back' | 'release'>();
  const [shown, show] = useState(false);
  const [fault, setFault] = useState('');
  useEffect(() => show(false), [change.program]);
  const send = (path: string, body: unknown, said: string) => {
    ask(undefined);
    call(path, body).then(
      () => {
        setFault('');
        show(false);
        done(said);
      },
      (error: ApiError) => setFault(error.message),
    );
  };
  return (
    <>
      {fault !== '' && <Fault text={fault} />}
      <div class="bar">
        {!change.serving && !shown && <button type="button" onClick={() => show(true)}>{t.rollBack}</button>}
        {pinned && <button type="button" onClick={() => ask('release')}>{t.release}</button>}
      </div>
      {shown && serving && (
        <Section title={t.rollBackDiff} wide aside={
          <button type="button" class="primary" onClick={() => ask('back')}>{t.confirm}</button>}>
          <Compared before={serving.program} after={change.program} group={group} sides={{before: serving.program, after: change.program}} />
        </Section>
      )}
      {asking === 'back' && (
        <Ask title={t.rollBackAsk(shortHash(change.program))} text={t.rollBackText} confirm={t.confirm} onCancel={() => ask(undefined)}
             onConfirm={() => send('/api/rollback', {program: change.program, group}, t.rolledBack(shortHash(change.program)))} />
      )}
      {asking === 'release' && (
        <Ask title={t.releaseAsk} text={t.releaseText} confirm={t.release} onCancel={() => ask(undefined)}
             onConfirm={() => send('/api/release', {group}, t.released)} />
      )}
    </>
  );
}

function Under({program}: {program: string}) {
  const [request, type] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    const curl = readCurl(request);
    if (request.trim() !== '') navigate(explainPath({...(curl ?? {request: request.trim()}), program}));
  };
  return (
    <form class="explain" onSubmit={submit}>
      <label for="under">{t.explain}</label>
      <div class="request">
        <input id="under" class="grow-field" spellcheck={false} value={request} placeholder={texts.explain.requestHint} onInput={(event) => type(event.currentTarget.value)} />
        <button type="submit">{t.submit}</button>
      </div>
    </form>
  );
}

function Kept({changes, group, readOnly, mayChange, reload}: {changes: Change[]; group: string; readOnly: boolean; mayChange: boolean; reload: () => void}) {
  const {query} = useLocation();
  const [said, say] = useState('');
  // Oldest first, as a slider goes.
  const steps = [...changes].reverse();
  const at = Math.max(0, steps.findIndex((change) => change.program.startsWith(query.get('program') ?? '-')));
  const known = query.has('program') && steps[at]?.program.startsWith(query.get('program') ?? '-');
  const index = known ? at : steps.length - 1;
  const chosen = steps[index]!;
  const previous = steps[index - 1];
  const against = query.get('with') ?? '';
  const other = against === kLive ? kLive : changes.find((change) => change.program === against)?.program ?? previous?.program;
  const choose = (change: Change) => setQuery({program: change.program, with: against});
  const serving = changes.find((change) => change.serving);
  const pinned = changes.find((change) => change.pinned);
  // Of two programs of the history the older one is before; what is live comes last.
  const later = other === kLive || (other !== undefined && steps.findIndex((change) => change.program === other) > index);
  const before = later ? chosen.program : other;
  const after = later ? other : chosen.program;
  const hash = (side: string | undefined) => (side === undefined || side === kLive ? '' : side);
  return (
    <>
      {pinned && <p class="problem warning">{t.pinnedNow(shortHash(pinned.program))}</p>}
      {said !== '' && <p class="said" role="status">{said}</p>}
      <div class="slider">
        <input type="range" min={0} max={steps.length - 1} step={1} value={index} aria-label={t.slider}
               aria-valuetext={t.sliderText(index + 1, steps.length, chosen.cause)}
               onInput={(event) => choose(steps[Number(event.currentTarget.value)]!)} />
      </div>
      <Rows changes={changes} chosen={chosen} choose={choose} />
      <Section title={t.chosen} wide aside={<code>{shortHash(chosen.program)}</code>}>
        <p>{chosen.cause} <span class="muted">· <Time at={chosen.at} />{chosen.user !== '' && ` · ${chosen.user}`}</span></p>
        <p class="muted">{chosen.resources.join(', ')}</p>
        {!readOnly && !mayChange && <p class="muted">{t.mayNot}</p>}
        {!readOnly && mayChange && <RollBack change={chosen} serving={serving} pinned={pinned} group={group} done={(text) => {
          say(text);
          reload();
        }} />}
        <Under program={chosen.program} />
      </Section>
      <Section title={t.changed} wide aside={
        <label class="with">{t.before} <code>{shortHash(chosen.program)}</code> {t.after}{' '}
          <select value={against} onChange={(event) => setQuery({program: chosen.program, with: event.currentTarget.value})}>
            <option value="">{t.previous}</option>
            <option value={kLive}>{t.live}</option>
            {changes.filter((change) => change !== chosen).map((change) => (
              <option key={change.program} value={change.program}>{shortHash(change.program)} {change.cause}</option>
            ))}
          </select>
        </label>}>
        {before === undefined || after === undefined ? <Empty text={t.first} />
          : <Compared before={before} after={after} group={group} sides={{before: hash(before), after: hash(after)}} />}
      </Section>
    </>
  );
}

function Groups({group, groups}: {group: string; groups: string[]}) {
  if (groups.length < 2) return null;
  return (
    <label class="with">{t.group}{' '}
      <select value={group} onChange={(event) => setQuery({group: event.currentTarget.value === kDefaultGroup ? '' : event.currentTarget.value, program: '', with: ''})}>
        {groups.map((one) => <option key={one} value={one}>{one}</option>)}
      </select>
    </label>
  );
}

export function HistoryPage({session}: {session: Session | undefined}) {
  const {query} = useLocation();
  const group = query.get('group') || kDefaultGroup;
  const agents = useApi<Agents>('/api/agents', []).data;
  const groups = useMemo(() => [...new Set([kDefaultGroup, group, ...(agents?.agents ?? []).map((agent) => agent.group)])].sort(), [agents, group]);
  const loaded = useApi<Change[]>(`/api/history?group=${encodeURIComponent(group)}`, ['*']);
  return (
    <>
      <Heading title={texts.pages.history}><p class="lead">{t.lead}</p></Heading>
      <Groups group={group} groups={groups} />
      {session === undefined ? <Loading /> : (
        <Waiting loaded={loaded}>
          {(changes) => changes.length === 0 ? <Empty text={group === kDefaultGroup ? t.empty : t.emptyGroup(group)} hint={t.emptyHint} />
            : <Kept key={group} changes={changes} group={group} readOnly={session.readOnly} mayChange={session.may.changeAgents} reload={loaded.reload} />}
        </Waiting>
      )}
    </>
  );
}
