/// The claims that are held against every change: those of the server, and those kept in this browser.
import {useState} from 'preact/hooks';
import {useApi} from './api';

const kKey = 'edge-claims';
const kMost = 50;

function kept(): string[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(kKey) ?? '[]');
    return Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string').slice(0, kMost) : [];
  } catch {
    return [];
  }
}

export const ownClaims = kept;

export function useClaims(): {given: string[]; own: string[]; add: (claim: string) => void; remove: (claim: string) => void} {
  const given = useApi<{claims: string[]}>('/api/claims', []).data?.claims ?? [];
  const [own, set] = useState(kept);
  const keep = (next: string[]) => {
    localStorage.setItem(kKey, JSON.stringify(next));
    set(next);
  };
  return {
    given,
    own,
    add: (claim) => keep([...own.filter((one) => one !== claim), claim].slice(-kMost)),
    remove: (claim) => keep(own.filter((one) => one !== claim)),
  };
}
