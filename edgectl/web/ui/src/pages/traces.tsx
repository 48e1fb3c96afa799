/// Traces of the connected context's store.
import {useEffect, useState} from 'preact/hooks';
import {useApi} from '../api';
import {duration, whole} from '../format';
import {Empty, HealthMark, Heading, Time, Waiting} from '../parts/basics';
import {type Column, readSort, Table, writeSort} from '../parts/table';
import {setQuery, useLocation} from '../router';
import {texts} from '../texts';
import {type Traces, type TraceSummary, tracePath} from '../views';

const t = texts.traces;

const kColumns: Column<TraceSummary>[] = [
  {id: 'start', head: t.start, value: (one) => one.startTime, cell: (one) => <Time at={one.startTime} />},
  {id: 'operation', head: t.operation, value: (one) => one.operation, cell: (one) => <a href={tracePath(one.traceID)}>{one.operation === '' ? one.traceID.slice(0, 16) : one.operation}</a>},
  {id: 'service', head: t.service, value: (one) => one.service, cell: (one) => one.service},
  {id: 'state', head: texts.objects.state, value: (one) => one.errors ?? -1,
   cell: (one) => (one.errors === undefined ? <span class="muted">–</span> : <HealthMark health={one.errors > 0 ? 'bad' : 'good'} label={one.errors > 0 ? t.errors(one.errors) : t.noErrors} />)},
  {id: 'duration', head: t.duration, numeric: true, value: (one) => one.durationMicros, cell: (one) => duration(one.durationMicros / 1e6)},
  {id: 'spans', head: t.spans, numeric: true, value: (one) => one.spans ?? -1, cell: (one) => (one.spans === undefined ? '–' : whole(one.spans))},
  {id: 'id', head: t.id, value: (one) => one.traceID, cell: (one) => <code>{one.traceID}</code>},
];

/// The value of a field after it rested: a store takes seconds.
function useRested(value: string): string {
  const [rested, set] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set(value), 300);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}

export function TracesPage() {
  const {query} = useLocation();
  const service = query.get('service') ?? '';
  const operation = query.get('operation') ?? '';
  const least = query.get('minDuration') ?? '';
  const tag = query.get('tag') ?? '';
  const lookback = query.get('lookback') ?? '1h';
  const sort = readSort(query.get('sort'), '-start');
  const asked = useRested(new URLSearchParams(Object.entries({service, operation, minDuration: least, tag, lookback}).filter(([, value]) => value !== '')).toString());
  const loaded = useApi<Traces>(`/api/traces?${asked}`, []);
  return (
    <>
      <Heading title={texts.pages.traces}>
        <button type="button" onClick={loaded.reload}>{t.reload}</button>
        <p class="lead">{t.lead}</p>
      </Heading>
      <form class="filters" role="search" aria-label={texts.requests.filters} onSubmit={(event) => event.preventDefault()}>
        <label>{t.service}
          <select value={service} onChange={(event) => setQuery({service: event.currentTarget.value})}>
            <option value="">{t.allServices}</option>
            {[...new Set([...(loaded.data?.services ?? []), ...(service === '' ? [] : [service])])].sort().map((one) => <option key={one} value={one}>{one}</option>)}
          </select>
        </label>
        <label>{t.operation}<input data-search value={operation} placeholder={t.operationHint} spellcheck={false} onInput={(event) => setQuery({operation: event.currentTarget.value})} /></label>
        <label>{t.least}<input value={least} placeholder="250ms" spellcheck={false} onInput={(event) => setQuery({minDuration: event.currentTarget.value})} /></label>
        <label>{t.tag}<input value={tag} placeholder="http.status_code=503" spellcheck={false} onInput={(event) => setQuery({tag: event.currentTarget.value})} /></label>
        <label>{t.lookback}
          <select value={lookback} onChange={(event) => setQuery({lookback: event.currentTarget.value === '1h' ? '' : event.currentTarget.value})}>
            {t.lookbacks.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
          </select>
        </label>
      </form>
      <Waiting loaded={loaded}>
        {({traces}) => traces.length === 0 ? <Empty text={t.empty} hint={t.emptyHint} /> : (
          <>
            <p class="muted state" role="status">{t.count(traces.length)}</p>
            <Table label={texts.pages.traces} columns={kColumns} rows={traces} keyOf={(one) => one.traceID} sort={sort} onSort={(next) => setQuery({sort: writeSort(next)})} />
          </>
        )}
      </Waiting>
    </>
  );
}
