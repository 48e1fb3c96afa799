/// The frame around every page: navigation, what is connected, and what is wrong with that.
import {useEffect, useState} from 'preact/hooks';
import {type Kind, type Session, useApi} from './api';
import {whole} from './format';
import {live, useLive} from './live';
import {AddressesPage} from './pages/addresses';
import {AgentPage} from './pages/agent';
import {AgentsPage} from './pages/agents';
import {CertificatesPage} from './pages/certificates';
import {ClaimsPage} from './pages/claims';
import {CreatePage, DeletePage, EditPage} from './pages/edit';
import {ExplainPage} from './pages/explain';
import {FederationPage} from './pages/federation';
import {FindPage} from './pages/find';
import {HistoryPage} from './pages/history';
import {ObjectView} from './pages/object';
import {ObjectsPage} from './pages/objects';
import {OverviewPage} from './pages/overview';
import {PoliciesPage} from './pages/policies';
import {RequestsPage} from './pages/requests';
import {SitesPage} from './pages/sites';
import {TopologyPage} from './pages/topology';
import {TracePage} from './pages/trace';
import {TracesPage} from './pages/traces';
import {TrafficPage} from './pages/traffic';
import {Choice, Empty, Heading} from './parts/basics';
import {usePath} from './router';
import {texts} from './texts';
import {setTheme, type Theme, theme} from './theme';

const kPages = [
  ['/', texts.pages.overview],
  ['/topology', texts.pages.topology],
  ['/traffic', texts.pages.traffic],
  ['/requests', texts.pages.requests],
  ['/traces', texts.pages.traces],
  ['/explain', texts.pages.explain],
  ['/policies', texts.pages.policies],
  ['/certificates', texts.pages.certificates],
  ['/addresses', texts.pages.addresses],
  ['/sites', texts.pages.sites],
  ['/federation', texts.federation.title],
  ['/agents', texts.pages.agents],
  ['/history', texts.pages.history],
  ['/claims', texts.pages.claims],
] as const;

function Content({path, session, kinds}: {path: string; session: Session | undefined; kinds: Kind[]}) {
  const parts = path.split('/').slice(1).map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return '';
    }
  });
  const [page, ...rest] = parts;
  if (path === '/') return <OverviewPage kinds={kinds} />;
  if (page === 'traffic' && rest.length === 0) return <TrafficPage />;
  if (page === 'topology' && rest.length === 0) return <TopologyPage />;
  if (page === 'requests' && rest.length === 0) return <RequestsPage />;
  if (page === 'traces' && rest.length === 0) return <TracesPage />;
  if (page === 'traces' && rest.length === 1) return <TracePage key={path} id={rest[0]!} />;
  if (page === 'policies' && rest.length === 0) return <PoliciesPage />;
  if (page === 'certificates' && rest.length === 0) return <CertificatesPage />;
  if (page === 'addresses' && rest.length === 0) return <AddressesPage />;
  if (page === 'sites' && rest.length === 0) return <SitesPage kinds={kinds} />;
  if (page === 'federation' && rest.length === 0) return <FederationPage session={session} />;
  if (page === 'explain' && rest.length === 0) return <ExplainPage />;
  if (page === 'agents' && rest.length === 0) return <AgentsPage />;
  if (page === 'agents' && rest.length === 1) return <AgentPage key={path} name={rest[0]!} readOnly={session === undefined || session.readOnly || !session.may.changeAgents} />;
  if (page === 'history' && rest.length === 0) return <HistoryPage session={session} />;
  if (page === 'claims' && rest.length === 0) return <ClaimsPage />;
  if (page === 'create' && rest.length === 1) return <CreatePage key={path} plural={rest[0]!} namespace={session?.namespace || 'default'} readOnly={session?.readOnly ?? true} />;
  if ((page === 'edit' || page === 'delete') && (rest.length === 2 || rest.length === 3)) {
    const Chosen = page === 'edit' ? EditPage : DeletePage;
    return <Chosen key={path} plural={rest[0]!} namespace={rest.length === 3 ? rest[1]! : ''} name={rest.at(-1)!} readOnly={session?.readOnly ?? true} />;
  }
  if (page === 'find' && rest.length === 3) return <FindPage key={path} part={rest[0]!} namespace={rest[1]!} name={rest[2]!} />;
  if (page === 'objects' && rest.length === 1) return <ObjectsPage key={path} plural={rest[0]!} namespace={session?.namespace || 'default'} />;
  if (page === 'objects' && rest.length === 2) return <ObjectView key={path} plural={rest[0]!} namespace="" name={rest[1]!} />;
  if (page === 'objects' && rest.length === 3) return <ObjectView key={path} plural={rest[0]!} namespace={rest[1]!} name={rest[2]!} />;
  return (
    <>
      <Heading title={texts.notFound} />
      <Empty text={path}><a href="/">{texts.toOverview}</a></Empty>
    </>
  );
}

function KindLinks({title, kinds, path}: {title: string; kinds: Kind[]; path: string}) {
  if (kinds.length === 0) return null;
  return (
    <>
      <h2>{title}</h2>
      <ul>
        {kinds.map((kind) => {
          const failing = kind.health.bad + kind.health.warning;
          const here = path === `/objects/${kind.plural}`;
          const below = path.startsWith(`/objects/${kind.plural}/`);
          return (
            <li key={kind.plural}>
              <a href={`/objects/${kind.plural}`} class={below ? 'below' : ''} {...(here ? {'aria-current': 'page'} as const : {})}>
                <span>{kind.kind}</span>
                <span class={`count${failing > 0 ? (kind.health.bad > 0 ? ' bad' : ' warning') : ''}`}
                      {...(failing > 0 ? {title: `${failing} ${texts.health.bad}`} : {})}>
                  {whole(kind.count)}
                </span>
              </a>
            </li>
          );
        })}
      </ul>
    </>
  );
}

function Connection({session}: {session: Session | undefined}) {
  const connected = useLive(() => live.connected);
  return (
    <p class={connected ? 'connection' : 'connection lost'} role="status">
      <span class="dot" aria-hidden="true" />
      <span>{connected ? texts.live.connected : texts.live.lost}</span>
      {session?.readOnly && <span class="tag">{texts.live.readOnly}</span>}
    </p>
  );
}

export function Page() {
  const path = usePath();
  const session = useApi<Session>('/api/session', ['kinds']).data;
  const kinds = useApi<Kind[]>('/api/kinds', ['*']).data ?? [];
  const [open, setOpen] = useState(false);
  const [chosen, choose] = useState<Theme>(theme);
  useEffect(() => setOpen(false), [path]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (/^(INPUT|TEXTAREA|SELECT)$/.test((event.target as Element).tagName)) return;
      const field = document.querySelector<HTMLInputElement>('[data-search]');
      if (!field) return;
      event.preventDefault();
      field.focus();
      field.select();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  const served = kinds.filter((kind) => kind.served && (kind.own || kind.count > 0));
  return (
    <>
      <a class="skip" href="#content">{texts.skip}</a>
      <nav class={open ? 'side open' : 'side'} aria-label={texts.navigation}>
        <div class="brand">
          <a href="/">
            <img src="/icon.svg" alt="" width="22" height="22" />
            <span>{texts.product}</span>
          </a>
          <button type="button" class="menu" aria-expanded={open} aria-controls="links" onClick={() => setOpen(!open)}>{texts.menu}</button>
        </div>
        <div id="links" class="links">
          <ul>
            {kPages.map(([to, title]) => (
              <li key={to}>
                <a href={to} class={to !== '/' && path.startsWith(`${to}/`) ? 'below' : ''} {...(path === to ? {'aria-current': 'page'} as const : {})}>{title}</a>
              </li>
            ))}
          </ul>
          <KindLinks title={texts.configuration} kinds={served.filter((kind) => kind.own)} path={path} />
          <KindLinks title={texts.otherKinds} kinds={served.filter((kind) => !kind.own)} path={path} />
          <div class="foot">
            {session && <p class="muted server" title={session.server}>{session.context !== '' ? session.context : session.server}</p>}
            <Connection session={session} />
            {session?.login && (
              <p class="muted server">
                {texts.live.signedIn(session.user)} · <a href="/oauth2/logout" target="_self">{texts.live.logOut}</a>
              </p>
            )}
            <Choice<Theme> label={texts.theme.label} value={chosen}
              options={[['auto', texts.theme.auto], ['light', texts.theme.light], ['dark', texts.theme.dark]]}
              onChange={(next) => {
                setTheme(next);
                choose(next);
              }} />
          </div>
        </div>
      </nav>
      <main id="content" tabIndex={-1}>
        {session !== undefined && session.fault !== '' && <div class="fault" role="alert"><p>{texts.live.apiLost(session.fault)}</p></div>}
        <Content path={path} session={session} kinds={served} />
      </main>
    </>
  );
}
