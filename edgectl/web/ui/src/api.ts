/// The JSON API (/api/openapi.json).
import {useEffect, useRef, useState} from 'preact/hooks';
import {live, useLive} from './live';
import {texts} from './texts';

export type Health = 'unknown' | 'good' | 'pending' | 'warning' | 'bad';

export interface Session {
  version: string;
  server: string;
  context: string;
  namespace: string;
  readOnly: boolean;
  synced: boolean;
  fault: string;
  login: boolean;
  user: string;
  groups: string[];
  ranges: boolean;
  may: {seeAgents: boolean; changeAgents: boolean; kinds: string[]};
}
export interface Kind {
  kind: string;
  plural: string;
  apiVersion: string;
  own: boolean;
  text: string;
  served: boolean;
  synced: boolean;
  fault: string;
  count: number;
  leftOut: number;
  health: Record<Health, number>;
}
export interface Problem {
  kind: string;
  plural: string;
  namespace: string;
  name: string;
  health: Health;
  problem: string;
}
export interface Row {
  namespace: string;
  name: string;
  health: Health;
  problem: string;
  cells: string[];
}
export interface Objects {
  kind: Kind;
  heads: string[];
  rows: Row[];
}
export interface Relation {
  kind: string;
  plural: string;
  namespace: string;
  name: string;
  field: string;
  known: boolean | null;
}
export interface Condition {
  of: string;
  type: string;
  status: string;
  reason: string;
  message: string;
  since: string;
}
export interface Happening {
  type: string;
  reason: string;
  message: string;
  count: number;
  last: string;
  from: string;
}
export type Json = null | boolean | number | string | Json[] | {[name: string]: Json};
export interface ObjectPage {
  kind: string;
  plural: string;
  namespace: string;
  name: string;
  created: string;
  health: Health;
  problem: string;
  object: {[name: string]: Json};
  yaml: string;
  conditions: Condition[];
  uses: Relation[];
  usedBy: Relation[];
  events: Happening[];
  eventsFault: string;
}
export interface Rule {
  verdict: 'won' | 'failed' | 'not-tried' | 'other-path';
  where: string;
  route: string;
  rule: number;
  match: number;
  condition: string;
  failed: string;
  actual: string;
}
export interface Explanation {
  request: string;
  bind: string;
  listener: string;
  gateway: string;
  hosts: {pattern: string; tried: boolean; rules: Rule[]}[];
  matched: boolean;
  winner: Rule | null;
  policies: string[];
  limits: string[];
  filters: string[];
  backends: {name: string; weight: number; canary: boolean; filters?: string[]}[];
  redirect: {status: number; location: string; by: string} | null;
  handshake?: {answer: string; serverName: string; certificates: string[]; text: string};
  pathRefused: boolean;
  denied: boolean;
  engines: {name: string; state: string; note: string}[];
  agree: boolean;
}
export interface Agent {
  name: string;
  node: string;
  version: string;
  cpu: string;
  group: string;
  labels: Record<string, string>;
  connected: boolean;
  since: string;
  lastSeen: string;
  program: string;
  published: string;
  valuesCurrent: boolean;
  connections: number;
  requests: number;
  certificateUntil: string;
  refused?: {program: string; reason: string; at: string};
  unboundListeners?: {namespace: string; gateway: string; listener: string; address: string; reason: string}[];
  backends: {namespace: string; name: string; circuit: string; connections: number;
             endpoints: {address: string; healthy: boolean; lastCheck: string; lastError: string}[]}[];
  vips: {namespace: string; name: string; address: string; held: boolean; interface: string; reason: string}[];
  reported?: number;
}
export interface Agents {
  published: string;
  agents: Agent[];
}
export interface Change {
  program: string;
  at: string;
  cause: string;
  resources: string[];
  user: string;
  serving: boolean;
  pinned: boolean;
}
export interface Point {
  requests: number;
  clientErrors: number;
  errors: number;
  p50: number | null;
  p99: number | null;
  connections: number;
}
type Figure = number | null;
export interface Rates {
  requestsPerSecond: Figure;
  clientErrorPart: Figure;
  errorPart: Figure;
  p50Seconds: Figure;
  p99Seconds: Figure;
}
export interface RouteTraffic extends Rates {
  gateway: string;
  route: string;
  receivedBytesPerSecond: Figure;
  sentBytesPerSecond: Figure;
}
export interface BackendTraffic extends Rates {
  backend: string;
  healthyEndpoints: Figure;
  endpoints: Figure;
  circuit: string | null;
  connections: Figure;
  retriesPerSecond: Figure;
}
export interface AgentTraffic extends Rates {
  agent: string;
  connections: Figure;
  cpuSecondsPerSecond: Figure;
  residentBytes: Figure;
}
export interface Traffic {
  window: string;
  agents: AgentTraffic[];
  line: (Point | null)[];
  routes: RouteTraffic[];
  backends: BackendTraffic[];
  faults: string[];
}

export class ApiError extends Error {
  /// `body`: the reply's, where it says more than why.
  constructor(readonly status: number, message: string, readonly body?: unknown) {
    super(message);
  }
}

export async function call<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const init: RequestInit = {cache: 'no-store', ...(signal ? {signal} : {})};
  if (body !== undefined) {
    init.method = 'POST';
    init.headers = {'Content-Type': 'application/json'};
    init.body = JSON.stringify(body);
  }
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, texts.unreachable);
  }
  if (response.ok) return (await response.json()) as T;
  // The session has ended: a page that is loaded leads to the login, and back.
  if (response.status === 401) location.reload();
  const reply = await response.json().catch((): null => null) as {error?: string} | null;
  throw new ApiError(response.status, reply?.error ?? `${response.status} ${response.statusText}`, reply);
}

export interface Loaded<T> {
  data: T | undefined;
  error: ApiError | undefined;
  reload: () => void;
}

/// Keeps a reply current: loads it again when one of `kinds` changed, or the connection came back. What was there stays
/// until then. `null`: nothing is loaded.
export function useApi<T>(path: string | null, kinds: readonly string[]): Loaded<T> {
  const [state, set] = useState<{path: string | null; data?: T; error?: ApiError}>({path});
  const [turn, setTurn] = useState(0);
  const version = useLive(() => live.versionOf(kinds));
  const abort = useRef<AbortController | undefined>(undefined);
  useEffect(() => {
    if (path === null) return;
    abort.current?.abort();
    const controller = new AbortController();
    abort.current = controller;
    call<T>(path, undefined, controller.signal).then(
      (data) => set({path, data}),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        set((old) => ({...(old.path === path && old.data !== undefined ? {data: old.data} : {}), path, error: error as ApiError}));
      },
    );
    return () => controller.abort();
  }, [path, version, turn]);
  const current = state.path === path ? state : undefined;
  return {data: current?.data, error: current?.error, reload: () => setTurn(turn + 1)};
}
