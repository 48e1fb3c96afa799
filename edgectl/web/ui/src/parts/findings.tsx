/// Diagnostics of the compiler, as a list.
import type {Health} from '../api';
import type {Diagnostic, Severity} from '../edit-api';
import {texts} from '../texts';
import {HealthMark} from './basics';
import {Prose} from './request';

const t = texts.edit;
const kHealth: Record<Severity, Health> = {error: 'bad', warning: 'warning', note: 'pending'};

export function Findings({label, list, lineOf, goTo}: {
  label: string;
  list: Diagnostic[];
  /// The line of a position in the draft; without it diagnostics say of which object they are.
  lineOf?: (byte: number) => number;
  goTo?: (one: Diagnostic) => void;
}) {
  return (
    <ul class="rows findings" aria-label={label}>
      {list.map((one, index) => (
        <li key={`${index} ${one.message}`}>
          <HealthMark health={kHealth[one.severity]} label={t.severity[one.severity]} />
          <div>
            <p>
              {lineOf && goTo && one.from !== null && (
                <button type="button" class="quiet inline" onClick={() => goTo(one)}>{t.line(lineOf(one.from))}</button>
              )}
              {!lineOf && one.resource !== '' && <span class="tag">{one.resource}</span>}{' '}
              <Prose text={one.message} />
            </p>
            {one.notes.map((note) => <p key={note} class="muted"><Prose text={note} /></p>)}
            {one.fix !== '' && <p class="muted">{t.fix(one.fix)}</p>}
            {(one.field !== '' || one.code !== '') && <p class="muted"><code class="wrap">{[one.code, one.field].filter((part) => part !== '').join(' ')}</code></p>}
          </div>
        </li>
      ))}
    </ul>
  );
}
