/// Policies and what they protect; routes and what protects them.
import {useMemo} from 'preact/hooks';
import {useApi} from '../api';
import {Choice, Empty, HealthMark, Heading, Waiting} from '../parts/basics';
import {Few, fullName, UseLink} from '../parts/links';
import {type Column, readSort, Table, writeSort} from '../parts/table';
import {objectPath, setQuery, useLocation} from '../router';
import {texts} from '../texts';
import type {CoveredRoute, CoveringPolicy, Policy, PolicyCover} from '../views';

const t = texts.policies;
type By = 'policy' | 'route';
type Which = 'all' | 'open' | 'bare';

const kPolicies: Column<Policy>[] = [
  {id: 'name', head: t.policy, value: (one) => fullName(one), cell: (one) => <a href={objectPath('proxypolicies', one.namespace, one.name)}>{fullName(one)}</a>},
  {id: 'type', head: t.type, value: (one) => one.type, cell: (one) => one.type},
  {id: 'state', head: texts.objects.state, value: (one) => one.health, cell: (one) => <span title={one.problem}><HealthMark health={one.health} /></span>},
  {id: 'target', head: t.target, value: (one) => fullName(one.target),
   cell: (one) => (one.target.kind === '' ? <span class="muted">{t.byFilters}</span> : (
     <>
       <UseLink of={one.target} label={`${one.target.kind} ${fullName(one.target)}`} />
       {one.target.section !== '' && <span class="muted"> {t.section(one.target.section)}</span>}
       {one.target.known === false && <span class="bad-text"> {texts.object.missing}</span>}
     </>
   ))},
  {id: 'routes', head: t.routes, numeric: true, value: (one) => one.routes,
   cell: (one) => (one.target.section !== '' ? <span class="muted">{t.partOfTarget}</span> : one.routes === 0 ? <span class="bad-text">{t.protectsNothing}</span> : <a href={`/policies?by=route&filter=${encodeURIComponent(fullName(one))}`}>{one.routes}</a>)},
];

const labelOf = (policy: CoveringPolicy) => (policy.from === 'gateway' ? t.byGateway(policy.type, policy.gateway) : policy.from === 'rule' ? t.byRule(policy.type) : policy.type);

const kRoutes: Column<CoveredRoute>[] = [
  {id: 'name', head: t.route, value: (one) => fullName(one), cell: (one) => <UseLink of={one} />},
  {id: 'kind', head: t.kind, value: (one) => one.kind, cell: (one) => one.kind},
  {id: 'guarded', head: t.access, value: (one) => (one.guarded ? 1 : 0),
   cell: (one) => <HealthMark health={one.guarded ? 'good' : 'unknown'} label={one.guarded ? t.checked : t.everybody} />},
  {id: 'policies', head: t.applies, value: (one) => one.policies.length, cell: (one) => (
    one.policies.length === 0 ? <span class="muted">{t.noPolicy}</span> : (
      <Few items={one.policies} most={6}>
        {(policy) => (policy.name === '' ? <span class="tag">{labelOf(policy)}</span>
          : <a class="tag" href={objectPath('proxypolicies', policy.namespace, policy.name)} title={fullName(policy)}>{labelOf(policy)}</a>)}
      </Few>
    )
  )},
];

function List({cover}: {cover: PolicyCover}) {
  const {query} = useLocation();
  const by: By = query.get('by') === 'route' ? 'route' : 'policy';
  const which = (query.get('which') ?? 'all') as Which;
  const filter = query.get('filter') ?? '';
  const sort = readSort(query.get('sort'), 'name');
  const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const policies = useMemo(() => cover.policies.filter((one) => has(`${fullName(one)} ${one.type} ${one.target.kind} ${fullName(one.target)} ${one.target.section} ${one.problem}`)), [cover, filter]);
  const routes = useMemo(() => cover.routes.filter((one) => (which === 'all' || (which === 'open' ? !one.guarded : one.policies.length === 0)) &&
    has(`${one.kind} ${fullName(one)} ${one.policies.map((policy) => `${labelOf(policy)} ${fullName(policy)}`).join(' ')}`)), [cover, filter, which]);
  const open = cover.routes.filter((one) => !one.guarded).length;
  const bare = cover.routes.filter((one) => one.policies.length === 0).length;
  const nothing = <Empty text={texts.objects.nothingFound}><button type="button" onClick={() => setQuery({filter: '', which: ''})}>{texts.objects.clear}</button></Empty>;
  return (
    <>
      <div class="bar">
        <Choice<By> label={t.by} value={by} options={[['policy', t.byPolicy(cover.policies.length)], ['route', t.byRoute(cover.routes.length)]]}
          onChange={(next) => setQuery({by: next === 'policy' ? '' : next, sort: '', filter: ''})} />
        <input type="search" data-search value={filter} placeholder={texts.searchHint} aria-label={texts.search} onInput={(event) => setQuery({filter: event.currentTarget.value})} />
        {by === 'route' && (
          <Choice<Which> label={t.which} value={which} options={[['all', t.all], ['open', t.open(open)], ['bare', t.bare(bare)]]}
            onChange={(next) => setQuery({which: next === 'all' ? '' : next})} />
        )}
        <p class="muted" role="status">{by === 'policy' ? t.policyCount(policies.length, cover.policies.length) : t.routeCount(routes.length, cover.routes.length)}</p>
      </div>
      {by === 'policy' && (cover.policies.length === 0 ? <Empty text={t.empty} hint={t.emptyHint}><a href="/policies?by=route">{t.emptyLink}</a></Empty>
        : policies.length === 0 ? nothing
          : <Table label={t.policy} columns={kPolicies} rows={policies} keyOf={(one) => `${fullName(one)} ${one.target.kind} ${fullName(one.target)} ${one.target.section}`} sort={sort} onSort={(next) => setQuery({sort: writeSort(next)})} />)}
      {by === 'route' && (cover.routes.length === 0 ? <Empty text={t.noRoutes} hint={texts.objects.emptyHint} />
        : routes.length === 0 ? nothing
          : <Table label={t.route} columns={kRoutes} rows={routes} keyOf={(one) => `${one.kind} ${fullName(one)}`} sort={sort} onSort={(next) => setQuery({sort: writeSort(next)})} />)}
      {by === 'route' && <p class="muted note">{t.note}</p>}
      {cover.leftOut > 0 && <p class="muted">{texts.objects.leftOut(cover.leftOut)}</p>}
    </>
  );
}

export function PoliciesPage() {
  const loaded = useApi<PolicyCover>('/api/policies', ['proxypolicies', 'proxyroutes', 'httproutes', 'grpcroutes', 'proxygateways', 'kinds']);
  return (
    <>
      <Heading title={texts.pages.policies}><p class="lead">{t.lead}</p></Heading>
      <Waiting loaded={loaded}>{(cover) => <List cover={cover} />}</Waiting>
    </>
  );
}
