/// An object as a draft: written, compared with what is live, applied, and followed to the agents.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {ApiError, call, useApi} from '../api';
import {ownClaims} from '../claims';
import {type Checked, type Conflict, type Diagnostic, type Difference, type EditText, type FieldTables, isConflict, positionsIn, type Rights, rightsPath, type Written} from '../edit-api';
import {Empty, Fault, Heading, Loading, Section, Waiting} from '../parts/basics';
import {DifferenceView} from '../parts/difference';
import {YamlEditor} from '../parts/editor';
import {Findings} from '../parts/findings';
import {Rollout} from '../parts/rollout';
import {objectPath, useLocation} from '../router';
import {texts} from '../texts';

const t = texts.edit;
const kTyping = 400;

interface Draft {
  yaml: string;
  version: string;
}

/// A draft outlives a reload, and going elsewhere.
function keptDraft(key: string): Draft | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Partial<Draft> | null;
    return typeof kept?.yaml === 'string' && typeof kept.version === 'string' ? {yaml: kept.yaml, version: kept.version} : undefined;
  } catch {
    return undefined;
  }
}

interface Target {
  plural: string;
  namespace: string;
  name: string;
}

/// Why a draft cannot be applied; empty: it can, or that is not known yet. The API decides anyway.
function useRefusal(plural: string, namespace: string, verb: keyof Rights, readOnly: boolean): string {
  const rights = useApi<Rights>(rightsPath(plural, namespace), []).data;
  return readOnly ? t.readOnly : rights?.[verb] === false ? t.mayNot : '';
}

/// The compiler's word on a draft, some time after the last key.
function useChecked(target: Target, yaml: string): {checked: Checked | undefined; of: string; fault: string} {
  const [state, set] = useState<{checked?: Checked; of: string; fault: string}>({of: '', fault: ''});
  useEffect(() => {
    const controller = new AbortController();
    const timer = setTimeout(() => {
      call<Checked>('/api/check', {...target, yaml}, controller.signal).then(
        (checked) => set({checked, of: yaml, fault: ''}),
        (error: ApiError) => !controller.signal.aborted && set({of: yaml, fault: error.message}),
      );
    }, kTyping);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [yaml, target.plural, target.namespace, target.name]);
  return {checked: state.checked, of: state.of, fault: state.fault};
}

function ConflictView({conflict, load, keep}: {conflict: Conflict; load: () => void; keep: () => void}) {
  return (
    <>
      <Fault text={t.conflict} />
      <Section title={t.conflictTheirs} wide>
        <pre class="yaml" tabIndex={0} role="region" aria-label={t.conflictTheirs}><code>{conflict.yaml}</code></pre>
        <div class="bar">
          <button type="button" class="primary" onClick={keep}>{t.conflictKeep}</button>
          <button type="button" onClick={load}>{t.conflictLoad}</button>
        </div>
      </Section>
    </>
  );
}

/// The way from a difference to the agents: of a draft, and of a deletion.
function Review({target, body, refusal, confirm, action, back, restart}: {
  target: Target;
  body: Record<string, unknown>;
  refusal: string;
  confirm: string;
  action: '/api/apply' | '/api/delete';
  back?: () => void;
  restart: (conflict: Conflict, keep: boolean) => void;
}) {
  const [difference, setDifference] = useState<Difference>();
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  const [conflict, setConflict] = useState<Conflict>();
  const [written, setWritten] = useState<Written>();
  const [turn, again] = useState(0);
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => top.current?.focus({preventScroll: true}), [written !== undefined, conflict !== undefined]);
  useEffect(() => {
    const controller = new AbortController();
    setFault('');
    call<Difference>('/api/difference', {...target, ...body, remove: action === '/api/delete', claims: ownClaims()}, controller.signal).then(
      setDifference,
      (error: ApiError) => !controller.signal.aborted && setFault(error.message),
    );
    return () => controller.abort();
  }, [turn]);
  const send = () => {
    setBusy(true);
    setFault('');
    call<Written>(action, {...target, ...body}).then(
      (got) => {
        setBusy(false);
        setWritten(got);
      },
      (error: ApiError) => {
        setBusy(false);
        if (isConflict(error.body)) setConflict(error.body);
        else setFault(error.message);
      },
    );
  };
  return (
    <div ref={top} tabIndex={-1} class="review">
      {fault !== '' && <Fault text={fault} {...(difference ? {} : {retry: () => again(turn + 1)})} />}
      {written ? <Rollout written={written} />
        : conflict ? <ConflictView conflict={conflict} keep={() => restart(conflict, true)} load={() => restart(conflict, false)} />
        : (
          <div class="bar">
            {refusal === '' && <button type="button" class="primary" disabled={busy || !difference || difference.errors > 0} onClick={send}>{busy ? t.applying : confirm}</button>}
            {back && <button type="button" onClick={back}>{t.back}</button>}
            {refusal !== '' && <p class="muted">{refusal}</p>}
            {difference && difference.errors > 0 && <p class="bad-text">{t.hasErrors}</p>}
          </div>
        )}
      {difference ? !conflict && <DifferenceView difference={difference} /> : fault === '' && <p class="muted" role="status">{texts.difference.comparing}</p>}
    </div>
  );
}

function Draughting({target, kind, start, refusal}: {target: Target; kind: string; start: EditText; refusal: string}) {
  const key = `edge-draft ${target.plural} ${target.namespace}/${target.name}`;
  const kept = useMemo(() => keptDraft(key), [key]);
  const [draft, setDraft] = useState<Draft>(kept ?? {yaml: start.yaml, version: start.version});
  const [reviewing, review] = useState(false);
  const [round, begin] = useState(0);
  const [taken, take] = useState(0);
  const [goal, setGoal] = useState<{position: number}>();
  const tables = useApi<FieldTables>(`/api/fields/${encodeURIComponent(target.plural)}`, []).data;
  const {checked, of, fault} = useChecked(target, draft.yaml);
  const original = draft.yaml === start.yaml;
  useEffect(() => {
    if (original) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(draft));
  }, [draft, original]);
  const toString = useMemo(() => positionsIn(of), [of]);
  const current = of === draft.yaml ? checked : undefined;
  const marks = useMemo(() => (current?.diagnostics ?? []).filter((one) => one.from !== null).map((one) => ({
    from: toString(one.from!), to: toString(one.to ?? one.from!), severity: one.severity,
    message: [one.message, ...one.notes, ...(one.fix === '' ? [] : [t.fix(one.fix)])].join('\n'),
  })), [current]);
  const lineOf = (byte: number) => of.slice(0, toString(byte)).split('\n').length;
  const goTo = (one: Diagnostic) => setGoal({position: toString(one.from ?? 0)});
  const errors = checked?.errors ?? 0;
  const list = checked?.diagnostics ?? [];
  if (reviewing) {
    return (
      <Review key={round} target={target} body={{yaml: draft.yaml, version: draft.version}} refusal={refusal} confirm={t.apply} action="/api/apply"
        back={() => review(false)}
        restart={(conflict, keep) => {
          setDraft({yaml: keep ? draft.yaml : conflict.yaml, version: conflict.version});
          begin(round + 1);
          review(keep);
        }} />
    );
  }
  return (
    <>
      {kept && !original && (
        <p class="bar" role="status"><span>{t.kept}</span>
          <button type="button" onClick={() => {
            setDraft({yaml: start.yaml, version: start.version});
            take(taken + 1);
          }}>{t.discard}</button></p>
      )}
      <YamlEditor label={t.label(kind)} text={draft.yaml} round={taken} tables={tables} marks={marks} target={goal}
                  onChange={(yaml) => setDraft((old) => (old.yaml === yaml ? old : {...old, yaml}))} />
      <p class="muted note">{t.keys}</p>
      <div class="bar">
        <button type="button" class="primary" disabled={original || current === undefined || errors > 0} onClick={() => review(true)}>{t.compare}</button>
        {original ? <p class="muted">{t.unchanged}</p> : errors > 0 && <p class="bad-text">{t.hasErrors}</p>}
        {refusal !== '' && <p class="muted">{refusal}</p>}
      </div>
      <Section title={t.diagnostics} wide aside={
        <span role="status" class="muted">{current === undefined && fault === '' ? t.checking : t.count(errors, list.length - errors)}</span>}>
        {fault !== '' && <Fault text={fault} />}
        {checked?.notes.map((note) => <p key={note} class="muted">{note}</p>)}
        {checked && (list.length === 0 ? <Empty text={t.noDiagnostics} /> : <Findings label={t.diagnostics} list={list} lineOf={lineOf} goTo={goTo} />)}
      </Section>
      {checked && checked.brought.length > 0 && <Section title={t.brought} wide><Findings label={t.brought} list={checked.brought} /></Section>}
      {checked && checked.solved.length > 0 && <Section title={t.solved} wide><Findings label={t.solved} list={checked.solved} /></Section>}
    </>
  );
}

function Crumbs({target, kind}: {target: Target; kind: string}) {
  return (
    <nav class="crumbs" aria-label={kind}>
      <a href={`/objects/${target.plural}`}>{kind}</a>
      {target.name !== '' && <a href={objectPath(target.plural, target.namespace, target.name)}>{target.namespace === '' ? target.name : `${target.namespace}/${target.name}`}</a>}
    </nav>
  );
}

/// Loaded once: what changes meanwhile is a conflict when the draft is applied.
function useOnce<T>(path: string): {data: T | undefined; error: ApiError | undefined; reload: () => void} {
  const [state, set] = useState<{data?: T; error?: ApiError}>({});
  const [turn, again] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    call<T>(path, undefined, controller.signal).then((data) => set({data}), (error: ApiError) => !controller.signal.aborted && set({error}));
    return () => controller.abort();
  }, [path, turn]);
  return {data: state.data, error: state.error, reload: () => again(turn + 1)};
}

export function EditPage({plural, namespace, name, readOnly}: Target & {readOnly: boolean}) {
  const refusal = useRefusal(plural, namespace, 'update', readOnly);
  const target = {plural, namespace, name};
  const loaded = useOnce<EditText>(`/api${objectPath(plural, namespace, name).replace('/objects/', '/edit/')}`);
  return (
    <>
      <Crumbs target={target} kind={loaded.data?.kind ?? plural} />
      <Heading title={t.editTitle(name)}><p class="lead">{t.lead}</p></Heading>
      {loaded.error?.status === 404 ? <Empty text={texts.object.gone}><a href={`/objects/${plural}`}>{plural}</a></Empty>
        : <Waiting loaded={loaded}>{(start) => <Draughting target={target} kind={start.kind} start={start} refusal={refusal} />}</Waiting>}
    </>
  );
}

function skeleton(tables: FieldTables, namespace: string): string {
  return `apiVersion: ${tables.apiVersion}\nkind: ${tables.kind}\nmetadata:\n  name: \n${tables.namespaced ? `  namespace: ${namespace}\n` : ''}spec:\n  \n`;
}

export function CreatePage({plural, namespace: otherwise, readOnly}: {plural: string; namespace: string; readOnly: boolean}) {
  const {query} = useLocation();
  const loaded = useOnce<FieldTables>(`/api/fields/${encodeURIComponent(plural)}`);
  const target = {plural, namespace: '', name: ''};
  const kind = loaded.data?.kind ?? plural;
  // A draft may be of any namespace: the API says when it is sent.
  const refusal = readOnly ? t.readOnly : '';
  return (
    <>
      <Crumbs target={target} kind={kind} />
      <Heading title={t.createTitle(kind)}><p class="lead">{t.lead}</p></Heading>
      {loaded.error?.status === 404 ? <Empty text={t.cannotEdit(plural)}><a href="/">{texts.toOverview}</a></Empty>
        : (
          <Waiting loaded={loaded}>
            {(tables) => (
              <Draughting target={target} kind={tables.kind} refusal={refusal}
                start={{...target, kind: tables.kind, version: '', yaml: skeleton(tables, query.get('namespace') ?? otherwise)}} />
            )}
          </Waiting>
        )}
    </>
  );
}

export function DeletePage({plural, namespace, name, readOnly}: Target & {readOnly: boolean}) {
  const refusal = useRefusal(plural, namespace, 'delete', readOnly);
  const target = {plural, namespace, name};
  const [version, setVersion] = useState<string>();
  const loaded = useOnce<EditText>(`/api${objectPath(plural, namespace, name).replace('/objects/', '/edit/')}`);
  const known = version ?? loaded.data?.version;
  return (
    <>
      <Crumbs target={target} kind={loaded.data?.kind ?? plural} />
      <Heading title={t.removeTitle(name)}><p class="lead">{t.removeLead}</p></Heading>
      {loaded.error?.status === 404 ? <Empty text={texts.object.gone}><a href={`/objects/${plural}`}>{plural}</a></Empty>
        : loaded.error ? <Fault text={loaded.error.message} retry={loaded.reload} />
        : known === undefined ? <Loading />
        : <Review key={known} target={target} body={{version: known}} refusal={refusal} confirm={t.remove} action="/api/delete"
                  restart={(conflict) => setVersion(conflict.version)} />}
    </>
  );
}

