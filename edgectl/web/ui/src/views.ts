/// Replies of the calls that topology, access log, traces, certificates, policies and addresses are drawn from.
import type {Health} from './api';
import {explainPath} from './router';

export interface Use {
  kind: string;
  plural: string;
  namespace: string;
  name: string;
}
export interface TopologyNode extends Use {
  layer: number;
  health: Health;
  problem: string;
  detail: string;
}
export interface Topology {
  nodes: TopologyNode[];
  edges: [number, number][];
  leftOut: number;
}
export interface EndpointHealth {
  backend: string;
  address: string;
  agents: number;
  healthy: number;
  lastError: string;
}
export interface Endpoints {
  asked: number;
  leftOut: number;
  items: EndpointHealth[];
}
export interface CoveringPolicy {
  type: string;
  from: 'route' | 'gateway' | 'rule';
  namespace: string;
  name: string;
  gateway: string;
}
export interface CoveredRoute extends Use {
  guarded: boolean;
  policies: CoveringPolicy[];
}
export interface Policy {
  namespace: string;
  name: string;
  type: string;
  health: Health;
  problem: string;
  target: Use & {section: string; known: boolean | null};  // kind '': the rules whose filters name it
  routes: number;
}
export interface PolicyCover {
  policies: Policy[];
  routes: CoveredRoute[];
  leftOut: number;
}
export interface Address {
  namespace: string;
  name: string;
  health: Health;
  problem: string;
  address: string;
  pool: string[];
  mode: string;
  ports: number[];
  currentNode: string;
  announcingNodes: string[];
  epoch: number;
  sessions: {node: string; peer: string; state: string; since: string; bfd: string; lastError: string}[];
  allocations: {address: string; kind: string; namespace: string; name: string; node: string}[];
  gateways: Use[];
}
export interface WanLink {
  name: string;
  role: string;
  provider: string;
  latency: string;
  loss: string;
  healthy: string;
}
export interface WanSite {
  name: string;
  role: string;
  node: string;
  ready: string;
  prefixes: string[];
  peers: string[];
  why: string;
  links: WanLink[];
}
export type TunnelState = 'up' | 'down' | 'unknown';
export interface WanPath {
  namespace: string;
  policy: string;
  site: string;
  peer: string;
  links: string[];
  since: string;
  reason: string;
}
export interface Sdwan {
  sites: WanSite[];
  /// Two indices of sites.
  tunnels: [number, number, TunnelState][];
  paths: WanPath[];
  sitesLeftOut: number;
  pathsLeftOut: number;
}
export interface Addresses {
  items: Address[];
  leftOut: number;
}
export interface Certificate {
  source: 'secret' | 'file';
  namespace: string;
  name: string;
  fault: string;
  names: string[];
  subject: string;
  issuer: string;
  selfSigned: boolean;
  keyType: string;
  intermediates: number;
  notBefore: string;
  notAfter: string;
  usedBy: (Use & {listener: string})[];
}
export interface Certificates {
  items: Certificate[];
  leftOut: number;
  fault: string;
}
export interface LoggedRequest {
  id: number;
  agent: string;
  port: number;
  time: string;
  client?: string;
  method?: string;
  scheme?: string;
  host?: string;
  path?: string;
  query?: string;
  protocol?: string;
  status?: number;
  reason?: string;
  gateway?: string;
  route?: string;
  backend?: string;
  endpoint?: string;
  attempts?: number;
  total_ms?: number;
  trace_id?: string;
  request_id?: string;
  user_agent?: string;
}
export interface AccessLog {
  next: number;
  missed: number;
  more: boolean;
  kept: number;
  faults: string[];
  lines: LoggedRequest[];
}
export interface TraceSummary {
  traceID: string;
  service: string;
  operation: string;
  startTime: string;
  durationMicros: number;
  spans?: number;
  errors?: number;
}
export interface Traces {
  services: string[];
  traces: TraceSummary[];
}
export interface Span {
  id: string;
  parent: string;
  service: string;
  operation: string;
  kind: string;
  offsetMicros: number;
  durationMicros: number;
  error: boolean;
  message: string;
  tags: {name: string; value: string}[];
}
export interface Trace {
  traceID: string;
  start: string;
  durationMicros: number;
  incomplete: boolean;
  leftOut: number;
  spans: Span[];
}

const kDay = 86_400;
export const kSoonDays = 30;

/// Seconds until a certificate ends; null: not known.
export function secondsLeft(certificate: Certificate, now: number): number | null {
  const at = Date.parse(certificate.notAfter);
  return Number.isNaN(at) ? null : (at - now) / 1000;
}

export function certificateHealth(certificate: Certificate, now: number): Health {
  if (certificate.fault !== '') return 'bad';
  const left = secondsLeft(certificate, now);
  if (left === null) return 'unknown';
  if (left <= 7 * kDay) return 'bad';
  return left <= kSoonDays * kDay ? 'warning' : 'good';
}

/// The page that explains a request of the access log or of a trace.
export function explainRequestPath(request: {method: string; scheme: string; host: string; port: number; path: string; query: string; source: string}): string {
  const port = request.port > 0 ? `:${request.port}` : '';
  const query = request.query === '' ? '' : `?${request.query}`;
  return explainPath({request: `${request.method} ${request.scheme}://${request.host}${port}${request.path}${query}`, source: request.source});
}

export const tracePath = (id: string): string => `/traces/${encodeURIComponent(id)}`;
