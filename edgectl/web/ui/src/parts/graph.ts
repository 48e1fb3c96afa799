/// The topology's graph: what is shown of it, and where. The same graph gives the same picture.
import type {Health} from '../api';
import type {EndpointHealth, Topology, TopologyNode} from '../views';

export interface GraphNode {
  key: string;
  layer: number;
  label: string;
  detail: string;
  health: Health;
  problem: string;
  /// Of a group; empty: a single object.
  members: TopologyNode[];
  of: TopologyNode | null;
}
export interface Graph {
  nodes: GraphNode[];
  /// Indices of nodes by which each is reached, and that it leads to.
  from: number[][];
  to: number[][];
}
export interface Placed extends Graph {
  x: number[];
  y: number[];
  width: number;
  height: number;
  /// Indices of each layer from the top.
  columns: number[][];
}

export const kNodeWidth = 196;
export const kNodeHeight = 42;
const kRow = 54;
const kColumn = 252;
/// From so many nodes on, long layers are grouped.
const kGroupFrom = 250;
const kLongLayer = 40;
const kWorst: Health[] = ['unknown', 'good', 'pending', 'warning', 'bad'];

const nodeName = (node: TopologyNode) => (node.namespace === '' ? node.name : `${node.namespace}/${node.name}`);
export const nodeKey = (node: TopologyNode) => `${node.layer} ${node.kind} ${nodeName(node)}${node.layer === 2 ? ` ${node.detail}` : ''}`;

/// Adds what agents say of endpoints: the health of those that are known, and those that only agents know.
export function withEndpoints(topology: Topology, endpoints: EndpointHealth[]): Topology {
  const nodes = topology.nodes.map((node) => ({...node}));
  const edges = [...topology.edges];
  const backends = new Map<string, number[]>();
  const known = new Map<string, number>();
  nodes.forEach((node, index) => {
    if (node.layer === 4) {
      const at = backends.get(nodeName(node));
      if (at) at.push(index);
      else backends.set(nodeName(node), [index]);
    }
    if (node.layer === 5) known.set(`${node.namespace} ${node.name}`, index);
  });
  for (const endpoint of endpoints) {
    const of = backends.get(endpoint.backend.replace(/:[^/]*$/, ''));
    if (!of) continue;
    const namespace = endpoint.backend.slice(0, endpoint.backend.indexOf('/'));
    const key = `${namespace} ${endpoint.address}`;
    const health: Health = endpoint.healthy === endpoint.agents ? 'good' : endpoint.healthy === 0 ? 'bad' : 'warning';
    const at = known.get(key);
    if (at !== undefined) {
      const node = nodes[at]!;
      if (kWorst.indexOf(health) > kWorst.indexOf(node.health)) node.health = health;
      if (endpoint.lastError !== '') node.problem = endpoint.lastError;
      continue;
    }
    known.set(key, nodes.length);
    for (const backend of of) edges.push([backend, nodes.length]);
    nodes.push({layer: 5, kind: 'Endpoint', plural: '', namespace, name: endpoint.address, health, problem: endpoint.lastError, detail: ''});
  }
  return {nodes, edges, leftOut: topology.leftOut};
}

export interface Filter {
  words: string[];
  health: Health | 'all';
}

/// The nodes that match, with all that leads to them and that they lead to.
export function matching(topology: Topology, filter: Filter): {shown: boolean[]; hits: number} {
  const {nodes, edges} = topology;
  const hit = nodes.map((node) => (filter.health === 'all' || node.health === filter.health) &&
    filter.words.every((word) => `${node.kind} ${nodeName(node)} ${node.detail} ${node.problem}`.toLowerCase().includes(word)));
  const hits = hit.reduce((sum, one) => sum + (one ? 1 : 0), 0);
  if (hits === nodes.length) return {shown: hit, hits};
  const to: number[][] = nodes.map(() => []);
  const from: number[][] = nodes.map(() => []);
  for (const [a, b] of edges) {
    to[a]!.push(b);
    from[b]!.push(a);
  }
  const shown = [...hit];
  for (const next of [to, from]) {
    const seen = [...hit];
    const left = seen.flatMap((one, index) => (one ? [index] : []));
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      for (const other of next[at]!) {
        if (seen[other]) continue;
        seen[other] = true;
        shown[other] = true;
        left.push(other);
      }
    }
  }
  return {shown, hits};
}

function groupOf(node: TopologyNode): string {
  if (node.layer !== 2) return node.namespace;
  const parts = node.name.split('.');
  return parts.length > 2 ? `*.${parts.slice(-2).join('.')}` : node.name;
}

/// Groups the members of long layers by namespace, hosts by domain, but for the groups that are open.
export function grouped(topology: Topology, shown: boolean[], open: ReadonlySet<string>, all: boolean): Graph {
  const {nodes, edges} = topology;
  const counts = [0, 0, 0, 0, 0, 0];
  nodes.forEach((node, index) => {
    if (shown[index]) counts[node.layer] = (counts[node.layer] ?? 0) + 1;
  });
  const many = !all && counts.reduce((sum, count) => sum + count, 0) > kGroupFrom;
  const groups = new Map<string, number[]>();
  nodes.forEach((node, index) => {
    if (!shown[index] || !many || (counts[node.layer] ?? 0) <= kLongLayer) return;
    const key = `${node.layer} group ${groupOf(node)}`;
    const members = groups.get(key);
    if (members) members.push(index);
    else groups.set(key, [index]);
  });
  const out: GraphNode[] = [];
  const at: number[] = nodes.map(() => -1);
  for (const [key, members] of groups) {
    if (members.length < 2 || open.has(key)) continue;
    const of = members.map((member) => nodes[member]!);
    const worst = of.reduce((health, node) => (kWorst.indexOf(node.health) > kWorst.indexOf(health) ? node.health : health), 'unknown' as Health);
    for (const member of members) at[member] = out.length;
    out.push({key, layer: of[0]!.layer, label: groupOf(of[0]!), detail: '', health: worst, problem: '', members: of, of: null});
  }
  nodes.forEach((node, index) => {
    if (!shown[index] || at[index] !== -1) return;
    at[index] = out.length;
    out.push({key: nodeKey(node), layer: node.layer, label: node.name, detail: node.detail, health: node.health, problem: node.problem, members: [], of: node});
  });
  const to: Set<number>[] = out.map(() => new Set());
  const from: Set<number>[] = out.map(() => new Set());
  for (const [a, b] of edges) {
    const [x, y] = [at[a]!, at[b]!];
    if (x < 0 || y < 0) continue;
    to[x]!.add(y);
    from[y]!.add(x);
  }
  return {nodes: out, to: to.map((one) => [...one]), from: from.map((one) => [...one])};
}

/// The places nearest to those wanted, in this order and a row apart: neighbours that would overlap share the mean.
function spread(wanted: number[]): number[] {
  const blocks: {sum: number; count: number}[] = [];
  wanted.forEach((want, index) => {
    blocks.push({sum: want - index * kRow, count: 1});
    for (let last = blocks.length - 1; last > 0; --last) {
      const [above, below] = [blocks[last - 1]!, blocks[last]!];
      if (above.sum / above.count <= below.sum / below.count) break;
      above.sum += below.sum;
      above.count += below.count;
      blocks.pop();
    }
  });
  const places: number[] = [];
  for (const block of blocks) {
    for (let i = 0; i < block.count; ++i) places.push(block.sum / block.count + places.length * kRow);
  }
  return places;
}

export function placed(graph: Graph): Placed {
  const {nodes, from, to} = graph;
  const collator = new Intl.Collator('en', {numeric: true});
  const columns: number[][] = [[], [], [], [], [], []];
  nodes.forEach((node, index) => columns[node.layer]?.push(index));
  for (const column of columns) {
    const names = column.map((index) => ({index, name: `${nodes[index]!.of ? nodeName(nodes[index]!.of!) : nodes[index]!.label}`}));
    names.sort((a, b) => collator.compare(a.name, b.name) || a.index - b.index);
    names.forEach((one, place) => (column[place] = one.index));
  }
  const used = columns.filter((column) => column.length > 0);
  const y: number[] = nodes.map(() => 0);
  const longest = used.reduce((best, column, index) => (column.length > used[best]!.length ? index : best), 0);
  const meanOf = (index: number, next: number[][], otherwise: number) => {
    const near = next[index]!;
    return near.length === 0 ? otherwise : near.reduce((sum, one) => sum + y[one]!, 0) / near.length;
  };
  const settle = (column: number[], next: number[][], reorder: boolean) => {
    const wanted = new Map(column.map((index) => [index, meanOf(index, next, y[index]!)]));
    if (reorder) {
      const ranked = column.map((index, place) => ({index, place, want: wanted.get(index)!}));
      ranked.sort((a, b) => a.want - b.want || a.place - b.place);
      ranked.forEach((one, place) => (column[place] = one.index));
    }
    const places = spread(column.map((index) => wanted.get(index)!));
    column.forEach((index, place) => (y[index] = places[place]!));
  };
  for (const column of used) column.forEach((index, place) => (y[index] = place * kRow));
  // Away from the longest column and back again: crossings become few, and lines short.
  for (let turn = 0; turn < 3; ++turn) {
    for (let at = longest + 1; at < used.length; ++at) settle(used[at]!, from, true);
    for (let at = longest - 1; at >= 0; --at) settle(used[at]!, to, true);
    const middle = used[longest];
    if (!middle) break;
    const both = nodes.map((_, index) => [...from[index]!, ...to[index]!]);
    const ranked = middle.map((index, place) => ({index, place, want: meanOf(index, both, y[index]!)}));
    ranked.sort((a, b) => a.want - b.want || a.place - b.place);
    ranked.forEach((one, place) => {
      middle[place] = one.index;
      y[one.index] = place * kRow;
    });
  }
  for (let at = longest + 1; at < used.length; ++at) settle(used[at]!, from, true);
  for (let at = longest - 1; at >= 0; --at) settle(used[at]!, to, true);
  const least = y.reduce((low, one) => Math.min(low, one), Infinity);
  const place = new Map(used.map((column, index) => [columns.indexOf(column), index]));
  const x = nodes.map((node) => (place.get(node.layer) ?? 0) * kColumn);
  const top = nodes.length === 0 ? 0 : least;
  const shifted = y.map((one) => one - top);
  return {
    ...graph, x, y: shifted, columns: used,
    width: Math.max(0, used.length - 1) * kColumn + kNodeWidth,
    height: shifted.reduce((high, one) => Math.max(high, one), 0) + kNodeHeight,
  };
}

/// Everything that leads to a node, and that it leads to.
export function wayThrough(graph: Graph, index: number): Set<number> {
  const way = new Set([index]);
  for (const next of [graph.to, graph.from]) {
    const left = [index];
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      for (const other of next[at]!) {
        if (way.has(other)) continue;
        way.add(other);
        left.push(other);
      }
    }
  }
  return way;
}
