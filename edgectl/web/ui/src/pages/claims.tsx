/// Claims about all requests, proven or refuted by one.
import {useEffect, useState} from 'preact/hooks';
import {type ApiError, call} from '../api';
import {useClaims} from '../claims';
import type {ClaimOutcome} from '../edit-api';
import {live, useLive} from '../live';
import {Empty, Fault, Heading, Section} from '../parts/basics';
import {ClaimResult, ClaimWhy} from '../parts/difference';
import {texts} from '../texts';

const t = texts.claims;

interface Proven {
  notes: string[];
  claims: {claim: string; outcome: ClaimOutcome}[];
}

function List({label, claims, outcomes, remove}: {
  label: string;
  claims: string[];
  outcomes: Map<string, ClaimOutcome>;
  remove?: (claim: string) => void;
}) {
  return (
    <ul class="rows" aria-label={label}>
      {claims.map((claim) => {
        const outcome = outcomes.get(claim);
        return (
          <li key={claim}>
            {outcome ? <ClaimResult outcome={outcome} /> : <span class="muted">{t.working}</span>}
            <div class="between">
              <div>
                <p><code class="wrap">{claim}</code></p>
                {outcome && <p><ClaimWhy outcome={outcome} /></p>}
              </div>
              {remove && <button type="button" class="quiet" aria-label={t.removeOne(claim)} onClick={() => remove(claim)}>{t.removeButton}</button>}
            </div>
          </li>
        );
      })}
    </ul>
  );
}

export function ClaimsPage() {
  const {given, own, add, remove} = useClaims();
  const [typed, type] = useState('');
  const [proven, setProven] = useState<Proven>();
  const [fault, setFault] = useState('');
  const version = useLive(() => live.versionOf(['*']));
  const all = [...given, ...own];
  useEffect(() => {
    if (all.length === 0) return;
    const controller = new AbortController();
    call<Proven>('/api/claims', {claims: own}, controller.signal).then(
      (got) => {
        setFault('');
        setProven(got);
      },
      (error: ApiError) => !controller.signal.aborted && setFault(error.message),
    );
    return () => controller.abort();
  }, [all.join('\n'), version]);
  const outcomes = new Map(proven?.claims.map((one) => [one.claim, one.outcome]));
  const submit = (event: Event) => {
    event.preventDefault();
    if (typed.trim() === '') return;
    add(typed.trim());
    type('');
  };
  return (
    <>
      <Heading title={texts.pages.claims}><p class="lead">{t.lead}</p></Heading>
      {fault !== '' && <Fault text={fault} />}
      {proven?.notes.map((note) => <Fault key={note} text={note} />)}
      <form class="explain" onSubmit={submit}>
        <label for="claim">{t.add}</label>
        <div class="request">
          <input id="claim" class="grow-field" spellcheck={false} value={typed} placeholder={t.example} onInput={(event) => type(event.currentTarget.value)} />
          <button type="submit" class="primary">{t.addButton}</button>
        </div>
      </form>
      <Section title={t.own} wide>
        {own.length === 0 ? <Empty text={t.ownNone}><p><code class="wrap">{t.example}</code></p></Empty>
          : <List label={t.own} claims={own} outcomes={outcomes} remove={remove} />}
      </Section>
      <Section title={t.given} wide>
        {given.length === 0 ? <Empty text={t.givenNone} /> : <List label={t.given} claims={given} outcomes={outcomes} />}
      </Section>
    </>
  );
}
