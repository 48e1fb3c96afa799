/// Clusters, sites and their links, by the statuses of their objects.
import {type Kind, type Objects, type Row, useApi} from '../api';
import {Empty, Fault, HealthMark, Heading, Section, Waiting} from '../parts/basics';
import {fullName} from '../parts/links';
import {type Column, Table} from '../parts/table';
import {objectPath} from '../router';
import {texts} from '../texts';

const t = texts.sites;
const head = (text: string) => text.charAt(0) + text.slice(1).toLowerCase();
/// Told by the page itself.
const kLeftOut = new Set(['AGE', 'SITE', 'HEALTHY', 'READY']);

/// A cell by the head of its column; empty: it has none.
function cell(objects: Objects, row: Row, name: string): string {
  const at = objects.heads.indexOf(name);
  const text = at < 0 ? '' : row.cells[at] ?? '';
  return text === '<none>' ? '' : text;
}

function columnsOf(objects: Objects): Column<Row>[] {
  const columns: Column<Row>[] = [
    {id: 'name', head: texts.objects.name, value: (row) => row.name, cell: (row) => <a href={objectPath(objects.kind.plural, row.namespace, row.name)}>{fullName(row)}</a>},
    {id: 'state', head: texts.objects.state, value: (row) => row.health, cell: (row) => <span title={row.problem}><HealthMark health={row.health} /></span>},
  ];
  for (const name of objects.heads.filter((one) => !kLeftOut.has(one))) {
    columns.push({id: name, head: head(name), value: (row) => cell(objects, row, name), cell: (row) => cell(objects, row, name) || <span class="muted">–</span>});
  }
  return columns;
}

function Objects_({kind, rows, objects}: {kind: string; rows: Row[]; objects: Objects}) {
  return <Table label={kind} columns={columnsOf(objects)} rows={rows} keyOf={fullName} />;
}

function List({plural, title, hint}: {plural: string; title: string; hint: string}) {
  const loaded = useApi<Objects>(`/api/objects/${plural}`, [plural]);
  return (
    <Section title={title} aside={<a href={`/objects/${plural}`}>{t.all}</a>}>
      <Waiting loaded={loaded}>
        {(objects) => (
          <>
            {objects.kind.fault !== '' && <Fault text={texts.objects.fault(objects.kind.fault)} />}
            {objects.rows.length === 0 ? <Empty text={texts.objects.empty(objects.kind.kind)} hint={hint} /> : <Objects_ kind={title} rows={objects.rows} objects={objects} />}
          </>
        )}
      </Waiting>
    </Section>
  );
}

/// Each site with its links; links of no known site behind them.
function Sites() {
  const sites = useApi<Objects>('/api/objects/sites', ['sites']);
  const links = useApi<Objects>('/api/objects/wanlinks', ['wanlinks']);
  const all = links.data;
  const siteOf = (row: Row) => {
    const name = all ? cell(all, row, 'SITE') : '';
    return name.includes('/') ? name : `${row.namespace}/${name}`;
  };
  const known = new Set((sites.data?.rows ?? []).map(fullName));
  const lost = (all?.rows ?? []).filter((row) => !known.has(siteOf(row)));
  return (
    <Section title={t.sites} aside={<span class="ways"><a href="/objects/sites">{t.allSites}</a><a href="/objects/wanlinks">{t.allLinks}</a></span>}>
      <Waiting loaded={sites}>
        {(objects) => objects.rows.length === 0 && lost.length === 0 ? <Empty text={texts.objects.empty('Site')} hint={t.siteHint} /> : (
          <ul class="sites">
            {objects.rows.map((site) => {
              const own = (all?.rows ?? []).filter((row) => siteOf(row) === fullName(site));
              return (
                <li key={fullName(site)}>
                  <h3>
                    <a href={objectPath('sites', site.namespace, site.name)}>{fullName(site)}</a> <HealthMark health={site.health} />
                    <span class="muted"> {[cell(objects, site, 'ROLE'), cell(objects, site, 'REGION')].filter((one) => one !== '').join(' · ')}</span>
                  </h3>
                  {site.problem !== '' && <p class="muted">{site.problem}</p>}
                  {all && (own.length === 0 ? <p class="muted">{t.noLinks}</p> : <Objects_ kind={t.linksOf(site.name)} rows={own} objects={all} />)}
                </li>
              );
            })}
            {all && lost.length > 0 && <li><h3>{t.lost}</h3><Objects_ kind={t.lost} rows={lost} objects={all} /></li>}
          </ul>
        )}
      </Waiting>
    </Section>
  );
}

export function SitesPage({kinds}: {kinds: Kind[]}) {
  const served = new Set(kinds.map((kind) => kind.plural));
  const any = ['edgeclusters', 'edgeremoteclusters', 'sites', 'wanlinks', 'wanpolicies'].some((plural) => served.has(plural));
  return (
    <>
      <Heading title={texts.pages.sites}><p class="lead">{t.lead}</p></Heading>
      {!any && kinds.length > 0 ? <Empty text={t.notServed} hint={t.notServedHint} /> : (
        <>
          {served.has('edgeclusters') && <List plural="edgeclusters" title={t.clusters} hint={t.clusterHint} />}
          {served.has('edgeremoteclusters') && <List plural="edgeremoteclusters" title={t.remotes} hint={t.remoteHint} />}
          {served.has('sites') && <Sites />}
          {served.has('wanpolicies') && <List plural="wanpolicies" title={t.policies} hint={t.policyHint} />}
        </>
      )}
    </>
  );
}
