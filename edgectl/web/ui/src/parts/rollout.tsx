/// What was written, on its way to the agents.
import {useEffect, useState} from 'preact/hooks';
import {type ApiError, call, type Health} from '../api';
import type {Progress, Written} from '../edit-api';
import {objectPath} from '../router';
import {texts} from '../texts';
import {Fault, HealthMark, Section} from './basics';
import {type Column, Table} from './table';

const t = texts.rollout;
type AgentProgress = Progress['agents'][number];

const kEvery = 700;
const kHealth: Record<AgentProgress['state'], Health> = {current: 'good', behind: 'pending', refused: 'bad', held: 'warning'};

const kColumns: Column<AgentProgress>[] = [
  {id: 'agent', head: t.agent, value: (one) => one.name, cell: (one) => <a href={`/agents/${encodeURIComponent(one.name)}`}>{one.name}</a>},
  {id: 'group', head: t.group, value: (one) => one.group, cell: (one) => one.group},
  {id: 'state', head: t.state, value: (one) => one.state, cell: (one) => <HealthMark health={kHealth[one.state]} label={t.states[one.state]} />},
  {id: 'reason', head: t.reason, grow: true, value: (one) => one.reason, cell: (one) => <span class="wrap">{one.reason}</span>},
];

function outcome(progress: Progress): {text: string; health: Health} {
  const rejected = progress.objects.find((one) => one.state === 'rejected');
  if (rejected) return {text: t.rejected(rejected.reason), health: 'bad'};
  if (!progress.compiled) return {text: t.waiting, health: 'pending'};
  if (progress.objects.every((one) => one.state === 'apart')) return {text: progress.objects[0]?.reason || t.apart, health: 'good'};
  if (progress.failed) return {text: t.failed, health: 'bad'};
  if (progress.agents.length === 0) return {text: t.noAgents, health: 'warning'};
  const all = progress.agents.length;
  return progress.over ? {text: t.done(all), health: 'good'} : {text: t.progress(progress.current, all), health: 'pending'};
}

export function Rollout({written}: {written: Written}) {
  const [progress, setProgress] = useState<Progress>();
  const [fault, setFault] = useState('');
  const {object} = written;
  useEffect(() => {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = () => {
      call<Progress>('/api/progress', {objects: [object]}, controller.signal).then(
        (got) => {
          setFault('');
          setProgress(got);
          if (!got.over) timer = setTimeout(ask, kEvery);
        },
        (error: ApiError) => {
          if (controller.signal.aborted) return;
          setFault(error.message);
          timer = setTimeout(ask, 5 * kEvery);
        },
      );
    };
    ask();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [object]);
  const told = progress && outcome(progress);
  const agents = progress?.agents ?? [];
  return (
    <Section title={t.title} wide aside={!object.gone && <a href={objectPath(object.plural, object.namespace, object.name)}>{texts.edit.toObject}</a>}>
      <p>{t.lead[written.done]}</p>
      {written.warnings.map((warning) => <p key={warning} class="muted">{t.warning(warning)}</p>)}
      {fault !== '' ? <Fault text={`${t.unknown(fault)} ${t.unknownHint}`} />
        : <p class="outcome" role="status"><HealthMark health={told?.health ?? 'pending'} label={told?.text ?? t.waiting} /></p>}
      {agents.length > 0 && (
        <>
          <progress max={agents.length} value={progress?.current ?? 0} aria-label={t.title} />
          <Table label={t.title} columns={kColumns} rows={agents} keyOf={(one) => one.name} />
        </>
      )}
    </Section>
  );
}
