/// Draws a placed graph. Only what is seen is drawn, and all lines are one path: a thousand nodes cost what a screen of
/// them costs.
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import type {Health} from '../api';
import {rate as rateText} from '../format';
import {navigate, objectPath, setQuery, useLocation} from '../router';
import {texts} from '../texts';
import {type GraphNode, kNodeHeight, kNodeWidth, type Placed, wayThrough} from './graph';

const t = texts.topology;
const kMargin = 300;
const kMostZoom = 2;
/// Below it, text could not be read.
const kTextFrom = 0.38;
const kStep = 1.25;

interface View {
  x: number;
  y: number;
  zoom: number;
}

const short = (text: string, most: number) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);

function Mark({health}: {health: Health}) {
  if (health === 'good') return <circle cx="14" cy="21" r="5" />;
  if (health === 'pending') return <circle cx="14" cy="21" r="4.5" class="hollow" />;
  if (health === 'warning') return <path d="M14 15.5 19.5 26.5H8.5z" />;
  if (health === 'bad') return <path d="M9 16h10v10H9z" />;
  return <path d="M9 21h10" class="hollow" />;
}

/// `*` is any address, or any host.
const shownName = (node: GraphNode) => (node.label === '*' ? (node.layer === 0 ? t.anyAddress : t.anyHost) : node.label);

const nameOf = (node: GraphNode) => (node.of ? `${node.of.kind} ${node.of.namespace === '' ? '' : `${node.of.namespace}/`}${node.of.name}` : t.group(t.layers[node.layer] ?? '', node.label, node.members.length));

function labelOf(picture: Placed, index: number, rate: number | undefined): string {
  const node = picture.nodes[index]!;
  const parts = [nameOf(node), texts.health[node.health]];
  if (rate !== undefined) parts.push(t.rate(rateText(rate)));
  parts.push(t.edges(picture.from[index]!.length, picture.to[index]!.length));
  return parts.join(', ');
}

function lines(picture: Placed, wanted: (from: number, to: number) => boolean): string {
  let path = '';
  picture.to.forEach((next, from) => {
    for (const to of next) {
      if (!wanted(from, to)) continue;
      const x1 = picture.x[from]! + kNodeWidth;
      const y1 = Math.round(picture.y[from]! + kNodeHeight / 2);
      const x2 = picture.x[to]!;
      const y2 = Math.round(picture.y[to]! + kNodeHeight / 2);
      const bend = Math.round((x1 + x2) / 2);
      path += `M${x1} ${y1}C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`;
    }
  });
  return path;
}

/// The nearest of these nodes, seen from another.
function nearest(picture: Placed, of: number[], y: number): number | undefined {
  return of.reduce<number | undefined>((best, one) =>
    (best === undefined || Math.abs(picture.y[one]! - y) < Math.abs(picture.y[best]! - y) ? one : best), undefined);
}

function neighbour(picture: Placed, index: number, key: string): number | undefined {
  const y = picture.y[index]!;
  if (key === 'ArrowRight') return nearest(picture, picture.to[index]!, y);
  if (key === 'ArrowLeft') return nearest(picture, picture.from[index]!, y);
  const column = picture.columns.find((one) => one.includes(index)) ?? [];
  const place = column.indexOf(index);
  if (key === 'ArrowDown') return column[place + 1];
  if (key === 'ArrowUp') return column[place - 1];
  if (key === 'Home') return column[0];
  if (key === 'End') return column.at(-1);
  return undefined;
}

/// Nothing of the graph can be moved out of sight.
function bounded(view: View, picture: Placed, size: {width: number; height: number}): View {
  const slack = 60;
  const free = (place: number, length: number, seen: number) => {
    const most = slack;
    const least = Math.min(most, seen - length * view.zoom - slack);
    return Math.min(most, Math.max(least, place));
  };
  return {zoom: view.zoom, x: free(view.x, picture.width, size.width), y: free(view.y, picture.height, size.height)};
}

function fitted(picture: Placed, size: {width: number; height: number}, least: number): View {
  const zoom = Math.min(1.3, Math.max(least, Math.min((size.width - 40) / Math.max(picture.width, 1), (size.height - 40) / Math.max(picture.height, 1))));
  return {zoom, x: Math.max(20, (size.width - picture.width * zoom) / 2), y: Math.max(20, (size.height - picture.height * zoom) / 2)};
}

export function GraphView({picture, rates, onExpand}: {picture: Placed; rates: Map<string, number>; onExpand: (key: string) => void}) {
  const {query} = useLocation();
  const at = query.get('at') ?? '';
  const box = useRef<HTMLDivElement>(null);
  const [size, measure] = useState({width: 0, height: 0});
  const [view, look] = useState<View | null>(null);
  const [hovered, hover] = useState(-1);
  const chosen = useMemo(() => picture.nodes.findIndex((node) => node.key === at), [picture, at]);
  const toFocus = useRef(-1);
  const drag = useRef<{x: number; y: number; moved: boolean} | null>(null);

  useLayoutEffect(() => {
    const frame = box.current;
    if (!frame) return;
    const update = () => measure({width: frame.clientWidth, height: frame.clientHeight});
    update();
    const observer = new ResizeObserver(update);
    observer.observe(frame);
    return () => observer.disconnect();
  }, []);
  const known = size.width > 0;
  useLayoutEffect(() => {
    // As much as can be read; the rest by moving or zooming.
    if (known && view === null) {
      const first = fitted(picture, size, size.width < 600 ? 0.8 : 0.55);
      look(chosen >= 0 && !isSeen(first, chosen) ? centred(first, chosen) : first);
    }
  }, [known]);
  useEffect(() => {
    const frame = box.current;
    if (!frame) return;
    const turn = (event: WheelEvent) => {
      event.preventDefault();
      const seen = frame.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey) zoomBy(event.deltaY < 0 ? kStep : 1 / kStep, event.clientX - seen.left, event.clientY - seen.top);
      else look((old) => old && bounded({...old, x: old.x - event.deltaX - (event.shiftKey ? event.deltaY : 0), y: old.y - (event.shiftKey ? 0 : event.deltaY)}, picture, size));
    };
    frame.addEventListener('wheel', turn, {passive: false});
    return () => frame.removeEventListener('wheel', turn);
  }, [picture, size]);
  useLayoutEffect(() => {
    if (toFocus.current < 0) return;
    box.current?.querySelector<SVGGElement>(`[data-node="${toFocus.current}"]`)?.focus({preventScroll: true});
    toFocus.current = -1;
  });

  const now = view ?? {x: 20, y: 20, zoom: 1};
  function isSeen(of: View, index: number): boolean {
    const left = picture.x[index]! * of.zoom + of.x;
    const top = picture.y[index]! * of.zoom + of.y;
    return left > 0 && top > 0 && left + kNodeWidth * of.zoom < size.width && top + kNodeHeight * of.zoom < size.height;
  }
  function centred(of: View, index: number): View {
    return bounded({...of, x: size.width / 2 - (picture.x[index]! + kNodeWidth / 2) * of.zoom, y: size.height / 2 - (picture.y[index]! + kNodeHeight / 2) * of.zoom}, picture, size);
  }
  function zoomBy(by: number, x = size.width / 2, y = size.height / 2) {
    look((old) => {
      const of = old ?? now;
      const least = Math.min(0.55, fitted(picture, size, 0.02).zoom);
      const zoom = Math.min(kMostZoom, Math.max(least, of.zoom * by));
      return bounded({zoom, x: x - ((x - of.x) * zoom) / of.zoom, y: y - ((y - of.y) * zoom) / of.zoom}, picture, size);
    });
  }
  const fit = () => look(fitted(picture, size, 0.02));
  const open = (index: number) => {
    const node = picture.nodes[index]!;
    if (node.members.length > 0) onExpand(node.key);
    else if (node.of && node.of.plural !== '') navigate(objectPath(node.of.plural, node.of.namespace, node.of.name));
  };
  const goTo = (index: number) => {
    if (!isSeen(now, index)) look(centred(now, index));
    toFocus.current = index;
    setQuery({at: picture.nodes[index]!.key});
  };
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const focused = (event.target as Element).closest('[data-node]');
    const index = focused ? Number(focused.getAttribute('data-node')) : -1;
    const next = index >= 0 ? neighbour(picture, index, event.key) : undefined;
    if (next !== undefined) goTo(next);
    else if (index >= 0 && (event.key === 'Enter' || event.key === ' ')) open(index);
    else if (event.key === '+' || event.key === '=') zoomBy(kStep);
    else if (event.key === '-') zoomBy(1 / kStep);
    else if (event.key === '0') fit();
    else if (event.key === 'Escape' && at !== '') setQuery({at: ''});
    else if (!event.key.startsWith('Arrow') || index < 0) return;
    event.preventDefault();
  };

  // In steps, so that moving draws nothing anew most of the time.
  const step = kMargin / 2;
  const left = Math.floor((-now.x / now.zoom - kMargin) / step) * step;
  const top = Math.floor((-now.y / now.zoom - kMargin) / step) * step;
  const right = Math.ceil(((size.width - now.x) / now.zoom + kMargin) / step) * step;
  const bottom = Math.ceil(((size.height - now.y) / now.zoom + kMargin) / step) * step;
  const seen = useMemo(() => picture.nodes.flatMap((_, index) => {
    const [x, y] = [picture.x[index]!, picture.y[index]!];
    return x + kNodeWidth >= left && x <= right && y + kNodeHeight >= top && y <= bottom ? [index] : [];
  }), [picture, left, top, right, bottom]);
  const edges = useMemo(() => lines(picture, (from, to) => {
    const [a, b] = [picture.y[from]!, picture.y[to]!];
    return Math.max(a, b) >= top && Math.min(a, b) <= bottom && picture.x[to]! >= left && picture.x[from]! <= right;
  }), [picture, left, top, right, bottom]);
  const marked = hovered >= 0 ? hovered : chosen;
  const way = useMemo(() => (marked >= 0 && marked < picture.nodes.length ? wayThrough(picture, marked) : null), [picture, marked]);
  const strong = useMemo(() => (way ? lines(picture, (from, to) => way.has(from) && way.has(to)) : ''), [picture, way]);
  const tabStop = chosen >= 0 ? chosen : seen[0] ?? 0;
  const text = now.zoom >= kTextFrom;
  const drawn = chosen >= 0 && !seen.includes(chosen) ? [...seen, chosen] : seen;

  return (
    <div class="graph-frame">
      <div class="graph-tools" role="group" aria-label={t.zoom}>
        <button type="button" aria-label={t.zoomIn} onClick={() => zoomBy(kStep)}>+</button>
        <button type="button" aria-label={t.zoomOut} onClick={() => zoomBy(1 / kStep)}>−</button>
        <button type="button" onClick={fit}>{t.fit}</button>
      </div>
      <div ref={box} class="graph" onKeyDown={press}
           onPointerDown={(event) => {
             if (event.button === 0) drag.current = {x: event.clientX, y: event.clientY, moved: false};
           }}
           onPointerMove={(event) => {
             const from = drag.current;
             if (!from) return;
             const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
             if (!from.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
             if (!from.moved) (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
             drag.current = {x: event.clientX, y: event.clientY, moved: true};
             look(bounded({...now, x: now.x + dx, y: now.y + dy}, picture, size));
           }}
           onPointerUp={() => setTimeout(() => (drag.current = null))}
           onPointerCancel={() => (drag.current = null)}>
        <svg width={size.width} height={size.height} role="group" aria-label={t.label(picture.nodes.length)} class={way ? 'traced' : ''}>
          <g transform={`translate(${now.x} ${now.y}) scale(${now.zoom})`}>
            <path class="edges" d={edges} />
            {strong !== '' && <path class="edges strong" d={strong} />}
            {drawn.map((index) => {
              const node = picture.nodes[index]!;
              const rate = rates.get(node.key);
              const below = rate !== undefined ? t.rate(rateText(rate)) : node.members.length > 0 ? t.members(node.members.length) : node.detail !== '' ? node.detail : node.of?.kind ?? '';
              const opens = node.members.length > 0 || (node.of !== null && node.of.plural !== '');
              return (
                <g key={node.key} data-node={index} role={opens ? (node.members.length > 0 ? 'button' : 'link') : 'img'} tabIndex={index === tabStop ? 0 : -1}
                   aria-label={labelOf(picture, index, rate)}
                   class={`node ${node.health}${node.members.length > 0 ? ' group' : ''}${way && !way.has(index) ? ' dim' : ''}${index === chosen ? ' chosen' : ''}`}
                   transform={`translate(${picture.x[index]} ${picture.y[index]})`}
                   onPointerEnter={() => hover(index)} onPointerLeave={() => hover(-1)}
                   onFocus={() => at !== node.key && setQuery({at: node.key})}
                   onClick={() => {
                     if (!drag.current?.moved) open(index);
                   }}>
                  {node.members.length > 0 && <rect class="behind" x="4" y="4" width={kNodeWidth} height={kNodeHeight} rx="6" />}
                  <rect class="plate" width={kNodeWidth} height={kNodeHeight} rx="6" />
                  <Mark health={node.health} />
                  {text && <title>{[nameOf(node), node.problem].filter((one) => one !== '').join(': ')}</title>}
                  {text && <text x="28" y="18">{short(shownName(node), 23)}</text>}
                  {text && <text x="28" y="34" class="below">{short(below, 28)}</text>}
                </g>
              );
            })}
          </g>
        </svg>
      </div>
      <p class="muted note">{t.keys}</p>
    </div>
  );
}
