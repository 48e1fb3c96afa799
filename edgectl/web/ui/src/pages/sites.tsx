/// Clusters, sites and their links, by the statuses of their objects.
import {type Kind, type Objects, type Row, useApi} from '../api';
import {Empty, Fault, HealthMark, Heading, Section, Time, Waiting} from '../parts/basics';
import {whole} from '../format';
import {fullName} from '../parts/links';
import {type Column, Table} from '../parts/table';
import {WanGraph} from '../parts/wan_graph';
import {objectPath} from '../router';
import {texts} from '../texts';
import type {Sdwan, WanPath} from '../views';

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

function NameLink({plural, name}: {plural: string; name: string}) {
  const at = name.indexOf('/');
  return <a href={objectPath(plural, name.slice(0, at), name.slice(at + 1))}>{name}</a>;
}

const kPathColumns: Column<WanPath>[] = [
  {id: 'policy', head: t.pathHeads.policy, value: (path) => `${path.namespace}/${path.policy}`,
   cell: (path) => <NameLink plural="wanpolicies" name={`${path.namespace}/${path.policy}`} />},
  {id: 'site', head: t.pathHeads.site, value: (path) => path.site, cell: (path) => <NameLink plural="sites" name={path.site} />},
  {id: 'peer', head: t.pathHeads.peer, value: (path) => path.peer, cell: (path) => <NameLink plural="sites" name={path.peer} />},
  {id: 'links', head: t.pathHeads.links, value: (path) => path.links.join(' '),
   cell: (path) => path.links.length === 0 ? t.noLink : path.links.map((link, index) => <>{index > 0 && ', '}<NameLink plural="wanlinks" name={link} /></>)},
  {id: 'since', head: t.pathHeads.since, value: (path) => path.since, cell: (path) => <Time at={path.since} />},
  {id: 'reason', head: t.pathHeads.reason, value: (path) => path.reason, cell: (path) => path.reason},
];

function Down({sdwan}: {sdwan: Sdwan}) {
  const down = sdwan.tunnels.filter(([, , state]) => state === 'down');
  if (down.length === 0) return null;
  return (
    <>
      <h3>{t.down}</h3>
      <ul class="tunnels-down">
        {down.slice(0, 20).map(([a, b]) => <li key={`${a} ${b}`}><NameLink plural="sites" name={sdwan.sites[a]!.name} /> – <NameLink plural="sites" name={sdwan.sites[b]!.name} /></li>)}
        {down.length > 20 && <li class="muted">+{down.length - 20}</li>}
      </ul>
    </>
  );
}

/// The graph of the tunnels, and what policies take of them.
function Tunnels() {
  const loaded = useApi<Sdwan>('/api/sdwan', ['sites', 'wanlinks', 'wanpolicies']);
  const sdwan = loaded.data;
  if (sdwan && sdwan.sites.length === 0) return null;
  return (
    <>
      <Section title={t.tunnels}>
        <Waiting loaded={loaded}>
          {(shown) => (
            <>
              <WanGraph sdwan={shown} />
              {shown.sitesLeftOut > 0 && <p class="muted note">{t.sitesLeftOut(whole(shown.sitesLeftOut))}</p>}
              <Down sdwan={shown} />
            </>
          )}
        </Waiting>
      </Section>
      {sdwan && sdwan.paths.length > 0 && (
        <Section title={t.paths}>
          <Table label={t.paths} columns={kPathColumns} rows={sdwan.paths} keyOf={(path) => `${path.namespace}/${path.policy} ${path.site} ${path.peer}`} />
          {sdwan.pathsLeftOut > 0 && <p class="muted note">{t.pathsLeftOut(whole(sdwan.pathsLeftOut))}</p>}
        </Section>
      )}
    </>
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
          {served.has('sites') && <Tunnels />}
          {served.has('sites') && <Sites />}
          {served.has('wanpolicies') && <List plural="wanpolicies" title={t.policies} hint={t.policyHint} />}
        </>
      )}
    </>
  );
}
