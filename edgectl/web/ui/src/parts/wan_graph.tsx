/// Draws sites and the tunnels between them: hubs within, the others around them. The same sites give the same picture.
import {useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import type {Health} from '../api';
import {navigate, objectPath} from '../router';
import {texts} from '../texts';
import type {Sdwan, TunnelState, WanSite} from '../views';

const t = texts.sites;
const kStates: TunnelState[] = ['up', 'unknown', 'down'];
/// With more sites names would cover each other; they are told by title and label then.
const kMostNames = 48;

interface Place {
  x: number;
  y: number;
  /// Where the name stands: outside of the ring.
  side: 'start' | 'middle' | 'end';
}

export const siteHealth = (site: WanSite): Health => {
  if (site.ready === 'False') return 'bad';
  if (site.ready !== 'True') return 'unknown';
  return site.links.some((link) => link.healthy === 'False') ? 'warning' : 'good';
};

/// Each on one of two ellipses by its role; a single hub is the centre.
function placed(sites: WanSite[], width: number, height: number): Place[] {
  const hubs = sites.filter((site) => site.role === 'hub').length;
  const names = width < 600 ? 70 : 130;
  const outer = {x: Math.max(60, width / 2 - names), y: Math.max(60, height / 2 - 40)};
  const seen = {hub: 0, other: 0};
  return sites.map((site) => {
    const hub = site.role === 'hub';
    const [index, count] = hub ? [seen.hub++, hubs] : [seen.other++, sites.length - hubs];
    const scale = hub && hubs < sites.length ? (hubs === 1 ? 0 : 0.4) : 1;
    // Names of one or two stand beside them.
    const angle = (2 * Math.PI * index) / Math.max(count, 1) - (count > 2 ? Math.PI / 2 : 0);
    const across = Math.cos(angle) * scale;
    return {
      x: Math.round(width / 2 + across * outer.x), y: Math.round(height / 2 + Math.sin(angle) * scale * outer.y),
      side: across > 0.2 ? 'start' : across < -0.2 ? 'end' : 'middle',
    };
  });
}

function Mark({health}: {health: Health}) {
  if (health === 'good') return <circle r="7" />;
  if (health === 'warning') return <path d="M0-8 8 7H-8z" />;
  if (health === 'bad') return <path d="M-7-7H7V7H-7z" />;
  return <circle r="6" class="hollow" />;
}

const line = (a: Place, b: Place) => `M${a.x} ${a.y}L${b.x} ${b.y}`;

export function WanGraph({sdwan}: {sdwan: Sdwan}) {
  const {sites, tunnels} = sdwan;
  const box = useRef<HTMLDivElement>(null);
  const [width, measure] = useState(0);
  const [marked, mark] = useState(-1);
  const [stop, stopAt] = useState(0);
  useLayoutEffect(() => {
    const frame = box.current;
    if (!frame) return;
    const update = () => measure(frame.clientWidth);
    update();
    const observer = new ResizeObserver(update);
    observer.observe(frame);
    return () => observer.disconnect();
  }, []);
  const height = Math.round(Math.min(560, Math.max(280, width * 0.5)));
  const places = useMemo(() => placed(sites, width, height), [sites, width, height]);
  const pathOf = (wanted: (a: number, b: number, state: TunnelState) => boolean) =>
    tunnels.filter(([a, b, state]) => wanted(a, b, state)).map(([a, b]) => line(places[a]!, places[b]!)).join('');
  const ways = useMemo(() => kStates.map((state) => pathOf((_, __, one) => one === state)), [tunnels, places]);
  const own = useMemo(() => (marked < 0 ? '' : pathOf((a, b) => a === marked || b === marked)), [tunnels, places, marked]);
  const countOf = (index: number) => {
    const of = tunnels.filter(([a, b]) => a === index || b === index);
    return [of.filter(([, , state]) => state === 'up').length, of.length] as const;
  };
  const open = (index: number) => {
    const [namespace, name] = sites[index]!.name.split('/');
    navigate(objectPath('sites', namespace!, name!));
  };
  const go = (index: number) => {
    stopAt(index);
    box.current?.querySelector<SVGGElement>(`[data-site="${index}"]`)?.focus();
  };
  const tabStop = Math.min(stop, sites.length - 1);
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = sites.length - 1;
    if (event.key === 'ArrowRight' || event.key === 'ArrowDown') go(tabStop === last ? 0 : tabStop + 1);
    else if (event.key === 'ArrowLeft' || event.key === 'ArrowUp') go(tabStop === 0 ? last : tabStop - 1);
    else if (event.key === 'Home') go(0);
    else if (event.key === 'End') go(last);
    else if (event.key === 'Enter' || event.key === ' ') open(tabStop);
    else return;
    event.preventDefault();
  };
  const healths = sites.map(siteHealth);
  return (
    <div ref={box} class="wan-graph" onKeyDown={press}>
      <svg width={width} height={height} role="group" aria-label={t.graphLabel(sites.length)}>
        {kStates.map((state, index) => ways[index] !== '' && <path key={state} class={`tunnel ${state}`} d={ways[index]} />)}
        {own !== '' && <path class="tunnel strong" d={own} />}
        {sites.map((site, index) => {
          const {x, y, side} = places[index]!;
          const [up, all] = countOf(index);
          const label = [`${t.roles[site.role] ?? site.role} ${site.name}`, healths[index] === 'unknown' ? t.notReported : texts.health[healths[index]!], t.tunnelsUp(up, all), t.linksOfSite(site.links.length)];
          return (
            <g key={site.name} data-site={index} class={`site ${healths[index]}${site.role === 'hub' ? ' hub' : ''}`} role="link" tabIndex={index === tabStop ? 0 : -1}
               aria-label={label.join(', ')} transform={`translate(${x} ${y})`} onClick={() => open(index)}
               onPointerEnter={() => mark(index)} onPointerLeave={() => mark(-1)}
               onFocus={() => {
                 stopAt(index);
                 mark(index);
               }}
               onBlur={() => mark(-1)}>
              <title>{[site.name, site.why].filter((one) => one !== '').join(': ')}</title>
              <circle class="plate" r="13" />
              <Mark health={healths[index]!} />
              {(sites.length <= kMostNames || index === marked) && (
                <text x={side === 'start' ? 19 : side === 'end' ? -19 : 0} y={side === 'middle' ? (y > height / 2 ? 30 : -20) : 5} text-anchor={side}>{site.name.split('/')[1]}</text>
              )}
            </g>
          );
        })}
      </svg>
      <p class="muted note">{t.graphKeys}</p>
    </div>
  );
}
