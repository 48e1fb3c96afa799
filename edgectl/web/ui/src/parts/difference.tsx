/// What a change does: each class of requests with an example, settings, claims, and what other objects have of it.
import type {Health} from '../api';
import type {ClaimOutcome, DiffClass, Difference, Treatment} from '../edit-api';
import {shortHash} from '../format';
import {texts} from '../texts';
import {witnessPath} from '../witness';
import {Fault, HealthMark, Section} from './basics';
import {Findings} from './findings';
import {Witness} from './request';

const t = texts.difference;
const kOutcome: Record<ClaimOutcome['result'], Health> = {holds: 'good', fails: 'bad', notDecided: 'warning', invalid: 'bad'};

function Side({name, side, other, health}: {name: string; side: Treatment; other: Treatment; health: Health}) {
  return (
    <div class="side-of">
      <h4>{name}</h4>
      <p><HealthMark health={health} label={side.rule === '' ? t.noRule : side.rule} /></p>
      <ul class="plain">
        {side.treatment.map((part) => (
          <li key={part} class={other.treatment.includes(part) ? 'muted' : 'changed'}>{part}</li>
        ))}
      </ul>
    </div>
  );
}

/// The programs of both sides, where they are ones of the history: their hashes.
export interface Sides {
  before: string;
  after: string;
}

function ClassOf({one, sides}: {one: DiffClass; sides: Sides | undefined}) {
  const links = sides ? [sides.before, sides.after].filter((program) => program !== '') : [];
  return (
    <li class="diff-class">
      <h3>
        {one.hosts.slice(0, 5).join(', ')}{one.hosts.length > 5 && ` ${t.more(one.hosts.length - 5)}`} <code class="wrap">{one.where}</code>
      </h3>
      <div class="sides">
        <Side name={t.before} side={one.before} other={one.after} health={one.before.rule === '' ? 'unknown' : 'good'} />
        <Side name={t.after} side={one.after} other={one.before} health={one.after.rule === '' ? 'warning' : 'good'} />
      </div>
      <p class="muted">
        {t.request}: <Witness text={one.request} />
        {links.map((program) => {
          const path = witnessPath(one.request, program);
          return path && <span key={program}> · <a href={path}>{t.explainIn(shortHash(program))}</a></span>;
        })}
      </p>
    </li>
  );
}

export function ClaimResult({outcome}: {outcome: ClaimOutcome}) {
  return <HealthMark health={kOutcome[outcome.result]} label={texts.claims.results[outcome.result]} />;
}

export function ClaimWhy({outcome}: {outcome: ClaimOutcome}) {
  return (
    <>
      {outcome.request !== '' && <Witness text={outcome.request} />}
      {outcome.backend !== '' && <span class="muted"> {texts.claims.backend(outcome.backend)}</span>}
      {outcome.reason !== '' && <span>{outcome.reason}</span>}
    </>
  );
}

function Claims({claims}: {claims: Difference['claims']}) {
  if (claims.length === 0) return null;
  const turn = (before: ClaimOutcome, after: ClaimOutcome) =>
    before.result === after.result ? texts.claims.unchanged : after.result === 'holds' ? texts.claims.mended : texts.claims.broken;
  return (
    <Section title={t.claims} wide aside={<a href="/claims">{texts.pages.claims}</a>}>
      <ul class="rows">
        {claims.map(({claim, before, after}) => (
          <li key={claim}>
            <ClaimResult outcome={after} />
            <div>
              <p><code class="wrap">{claim}</code> <span class="muted">· {turn(before, after)}</span></p>
              <p><ClaimWhy outcome={after} /></p>
            </div>
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function DifferenceView({difference, sides}: {difference: Difference; sides?: Sides}) {
  const d = difference;
  const counts = [d.classCount > 0 ? t.classes(d.classCount) : '', d.settingCount > 0 ? t.settings(d.settingCount) : ''];
  const summary = d.equal ? t.equal : counts.filter((text) => text !== '').join(', ') || t.undecided;
  return (
    <>
      {d.notes.map((note) => <Fault key={note} text={note} />)}
      {d.errors > 0 && <Fault text={t.errors(d.errors)} />}
      <p class="outcome" role="status"><HealthMark health={d.equal ? 'good' : 'pending'} label={summary} /></p>
      <Claims claims={d.claims} />
      {d.classes.length > 0 && (
        <Section title={t.requests} wide>
          <ol class="diff">
            {d.classes.map((one, index) => <ClassOf key={index} one={one} sides={sides} />)}
          </ol>
          {d.classCount > d.classes.length && <p class="muted">{t.more(d.classCount - d.classes.length)}</p>}
        </Section>
      )}
      {d.settings.length > 0 && (
        <Section title={t.settingsTitle} wide>
          <div class="table" tabIndex={0} role="region" aria-label={t.settingsTitle}>
            <table>
              <thead><tr><th scope="col">{t.setting}</th><th scope="col">{t.before}</th><th scope="col">{t.after}</th></tr></thead>
              <tbody>
                {d.settings.map((one) => (
                  <tr key={one.setting}>
                    <td class="wrap">{one.setting}</td>
                    <td class="wrap">{one.before === '' ? <span class="muted">{t.none}</span> : one.before}</td>
                    <td class="wrap">{one.after === '' ? <span class="muted">{t.none}</span> : one.after}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {d.settingCount > d.settings.length && <p class="muted">{t.more(d.settingCount - d.settings.length)}</p>}
        </Section>
      )}
      {d.undecided.length > 0 && (
        <Section title={t.undecided} wide><ul class="plain">{d.undecided.map((one) => <li key={one}>{one}</li>)}</ul></Section>
      )}
      {d.brought.length > 0 && <Section title={texts.edit.brought} wide><Findings label={texts.edit.brought} list={d.brought} /></Section>}
      {d.solved.length > 0 && <Section title={texts.edit.solved} wide><Findings label={texts.edit.solved} list={d.solved} /></Section>}
    </>
  );
}
