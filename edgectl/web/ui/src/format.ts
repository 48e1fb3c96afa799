/// Numbers and times, short.
import {texts} from './texts';

// Made once: making one takes longer than using it a hundred times.
const kWhole = new Intl.NumberFormat('en');
const kAbsolute = new Intl.DateTimeFormat('en', {dateStyle: 'medium', timeStyle: 'long'});

export function rate(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (value === 0) return '0';
  if (value < 10) return value.toFixed(value < 1 ? 2 : 1);
  if (value < 1000) return value.toFixed(0);
  return value < 1e6 ? `${(value / 1e3).toFixed(value < 1e4 ? 1 : 0)}k` : `${(value / 1e6).toFixed(1)}M`;
}

export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return '–';
  if (seconds < 0.001) return `${(seconds * 1e6).toFixed(0)} µs`;
  if (seconds < 1) return `${(seconds * 1e3).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
}

export function part(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (value === 0) return '0%';
  return `${(value * 100).toFixed(value < 0.01 ? 2 : 1)}%`;
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let at = 0;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    ++at;
  }
  return `${value.toFixed(at === 0 || value >= 100 ? 0 : 1)} ${units[at]}`;
}

export function whole(value: number): string {
  return kWhole.format(value);
}

/// `3 d`, `2 h 5 min`, `40 s`: two units at most.
export function span(seconds: number): string {
  const units: [number, string][] = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  const left = Math.max(0, Math.round(seconds));
  const at = units.findIndex(([size]) => left >= size);
  if (at < 0) return '0 s';
  const [size, name] = units[at]!;
  const first = Math.floor(left / size);
  const next = units[at + 1];
  const rest = next && first < 10 ? Math.floor((left % size) / next[0]) : 0;
  return `${first} ${name}${rest > 0 && next ? ` ${rest} ${next[1]}` : ''}`;
}

export function relative(iso: string, now: number): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return texts.time.never;
  const seconds = (now - at) / 1000;
  if (Math.abs(seconds) < 1) return texts.time.now;
  return seconds > 0 ? texts.time.ago(span(seconds)) : texts.time.in(span(-seconds));
}

export function absolute(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? '' : kAbsolute.format(at);
}

export const shortHash = (hash: string) => hash.slice(0, 12);
