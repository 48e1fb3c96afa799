/// What the server sends by itself: changes, traffic, agents. One connection for all pages.
import {useEffect, useRef, useState} from 'preact/hooks';
import type {Agents, Traffic} from './api';

type Maybe<T> = {value?: T; error?: string};

const kRemembered = 60;
/// With a name: the version of what that agent says of itself.
export const kAgent = 'agent ';

class Live {
  connected = false;
  paused = false;
  traffic: Maybe<Traffic> = {};
  agents: Maybe<Agents> = {};
  /// Requests per second of each row, the latest last.
  readonly recent = new Map<string, number[]>();

  private readonly versions = new Map<string, number>();
  private connections = 0;
  private readonly listeners = new Set<() => void>();

  start(): void {
    const source = new EventSource('/api/events');
    source.addEventListener('open', () => {
      this.connected = true;
      ++this.connections;
      this.tell();
    });
    source.addEventListener('error', () => {
      this.connected = false;
      this.tell();
      // The browser gives up where it was refused.
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(() => this.start(), 3000);
      // It does not tell why; where the session has ended, the page has to be loaded again.
      void fetch('/api/session').then((reply) => reply.status === 401 && location.reload(), () => undefined);
    });
    source.addEventListener('changed', (event) => {
      for (const kind of (JSON.parse(event.data) as {kinds: string[]}).kinds) {
        this.versions.set(kind, (this.versions.get(kind) ?? 0) + 1);
      }
      this.tell();
    });
    source.addEventListener('traffic', (event) => {
      if (this.paused) return;
      this.traffic = read<Traffic>(event.data, this.traffic);
      this.remember();
      this.tell();
    });
    source.addEventListener('agents', (event) => {
      const before = new Map(this.agents.value?.agents.map((agent) => [agent.name, agent.reported]));
      this.agents = read<Agents>(event.data, this.agents);
      for (const agent of this.agents.value?.agents ?? []) {
        const key = kAgent + agent.name;
        if (before.get(agent.name) !== agent.reported) this.versions.set(key, (this.versions.get(key) ?? 0) + 1);
      }
      this.tell();
    });
  }

  /// Changes when one of the kinds has; `*`: any kind. An agent is one by kAgent and its name.
  versionOf(kinds: readonly string[]): number {
    let sum = this.connections;
    if (kinds.includes('*')) {
      for (const [key, version] of this.versions) if (!key.startsWith(kAgent)) sum += version;
    } else {
      for (const kind of kinds) sum += this.versions.get(kind) ?? 0;
    }
    return sum;
  }

  setPaused(paused: boolean): void {
    this.paused = paused;
    this.tell();
  }

  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  private tell(): void {
    for (const listener of [...this.listeners]) listener();
  }

  private remember(): void {
    const traffic = this.traffic.value;
    if (!traffic) return;
    const seen = new Map<string, number>();
    for (const row of traffic.routes) seen.set(`route ${row.gateway} ${row.route}`, row.requestsPerSecond ?? 0);
    for (const row of traffic.backends) seen.set(`backend ${row.backend}`, row.requestsPerSecond ?? 0);
    for (const row of traffic.agents) seen.set(`agent ${row.agent}`, row.requestsPerSecond ?? 0);
    for (const key of seen.keys()) if (!this.recent.has(key)) this.recent.set(key, []);
    for (const [key, values] of this.recent) {
      values.push(seen.get(key) ?? 0);
      if (values.length > kRemembered) values.shift();
      if (!seen.has(key) && values.every((value) => value === 0)) this.recent.delete(key);
    }
  }
}

function read<T>(data: string, old: Maybe<T>): Maybe<T> {
  const reply = JSON.parse(data) as T | {error: string};
  if (reply !== null && typeof reply === 'object' && 'error' in reply) {
    return {...(old.value !== undefined ? {value: old.value} : {}), error: (reply as {error: string}).error};
  }
  return {value: reply as T};
}

export const live = new Live();

/// Draws again when what `select` returns is another.
export function useLive<T>(select: () => T): T {
  const [, draw] = useState(0);
  const value = select();
  useEffect(() => {
    let last = value;
    return live.listen(() => {
      const next = select();
      if (Object.is(next, last)) return;
      last = next;
      draw((turn) => turn + 1);
    });
  });
  return value;
}

const clocks = new Set<(now: number) => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

/// The time, each second while it is shown: one timer for all, so that a table of times is drawn once a second.
export function useNow(): number {
  const [now, set] = useState(Date.now);
  useEffect(() => {
    clocks.add(set);
    ticking ??= setInterval(() => {
      const at = Date.now();
      for (const clock of clocks) clock(at);
    }, 1000);
    return () => {
      clocks.delete(set);
      if (clocks.size > 0) return;
      clearInterval(ticking);
      ticking = undefined;
    };
  }, []);
  return now;
}

/// Calls what was given last, each so many milliseconds while the page is seen.
export function useEvery(milliseconds: number, what: () => void): void {
  const last = useRef(what);
  last.current = what;
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && last.current(), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
}
