/// Requests as the compiler writes them, `GET http://host/path -H 'name: value' --claim 'name=value' from 192.0.2.1`, as links to their
/// explanation.
import {words} from './curl';
import {type Asked, explainPath} from './router';

/// null: the text is no request.
export function readWitness(text: string): Asked | null {
  const all = words(text);
  const [method, url, ...rest] = all ?? [];
  if (!method || !url || !/^[A-Z]+$/.test(method) || !/^https?:\/\//.test(url)) return null;
  const headers: string[] = [];
  const claims: string[] = [];
  let source = '';
  for (let at = 0; at < rest.length; ++at) {
    if (rest[at] === '-H') headers.push(rest[++at] ?? '');
    else if (rest[at] === '--claim') claims.push(rest[++at] ?? '');
    else if (rest[at] === 'from') source = rest[++at] ?? '';
  }
  return {request: `${method} ${url}`, headers, claims, source};
}

export function witnessPath(text: string, program = ''): string | null {
  const asked = readWitness(text);
  return asked && explainPath({...asked, program});
}
