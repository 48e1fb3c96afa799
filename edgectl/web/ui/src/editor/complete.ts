/// Where a position in YAML in block style stands: the keys above it, and what is being typed.
import type {Field, FieldTables} from '../edit-api';

export interface Place {
  path: string[];      ///< keys from the root to the map that the position is in
  key: string | null;  ///< of the value that is typed; null: a key is typed
  from: number;        ///< where the typed word begins
  typed: string;
  column: number;      ///< of the key
  siblings: string[];  ///< keys that the map has
}

interface Line {
  spaces: number;
  dashes: string;
  key: string;
  column: number;
}

const kLine = /^( *)((?:- +|-$)*)(?:"([^"]*)"|'([^']*)'|([^\s#'"{[&*!|>%@`][^:#]*?)) *:(?= |$)/;

function readLine(text: string): Line | null {
  const found = kLine.exec(text);
  if (!found) return null;
  const [, spaces = '', dashes = ''] = found;
  return {spaces: spaces.length, dashes, key: found[3] ?? found[4] ?? found[5] ?? '', column: spaces.length + dashes.length};
}

/// The keys of the map whose keys stand in `column` around a line.
function siblingsOf(lines: string[], at: number, column: number, first: boolean): string[] {
  const keys: string[] = [];
  // What stands above an item that begins here is of another one.
  for (const step of first ? [1] : [-1, 1]) {
    for (let i = at + step; i >= 0 && i < lines.length; i += step) {
      const text = lines[i]!;
      if (text.trim() === '' || text.trimStart().startsWith('#')) continue;
      const line = readLine(text);
      const indent = text.length - text.trimStart().length;
      if (line && line.column === column) {
        // An item that begins below is another one.
        if (step > 0 && line.dashes !== '') break;
        keys.push(line.key);
        if (line.dashes !== '') break;
      } else if (indent < column) {
        break;
      }
    }
  }
  return keys;
}

/// null: nothing can be completed here.
export function placeAt(text: string, position: number): Place | null {
  const begin = text.lastIndexOf('\n', position - 1) + 1;
  const line = text.slice(begin, position);
  const typing = /^( *)((?:- +)*)([\w./-]*)$/.exec(line);
  const value = /^( *)((?:- +)*)([\w./-]+): +(?:["']?)([^\s"'{}[\],]*)$/.exec(line);
  const found = typing ?? value;
  if (!found) return null;
  const [, spaces = '', dashes = '', key = '', word = ''] = found;
  const typed = typing ? key : word;
  const column = spaces.length + dashes.length;
  const lines = text.split('\n');
  const at = text.slice(0, begin).split('\n').length - 1;

  const path: string[] = [];
  // A key above stands before `limit`, or on it where it holds the list that a dash there is of.
  let limit = dashes === '' ? column : spaces.length;
  let item = dashes !== '';
  for (let i = at - 1; i >= 0 && (limit > 0 || item); --i) {
    const above = readLine(lines[i]!);
    if (!above) continue;
    if (above.dashes !== '') {
      if (above.column < limit) {
        path.unshift(above.key);
        limit = above.spaces;
        item = true;
      } else if (above.column === limit && !item) {
        limit = above.spaces;
        item = true;
      }
    } else if (above.column < limit || (item && above.column === limit)) {
      path.unshift(above.key);
      limit = above.column;
      item = false;
    }
  }
  return {path, key: typing ? null : key, from: position - typed.length, typed, column, siblings: siblingsOf(lines, at, column, dashes !== '')};
}

/// The fields of the map at a path; none where it has no table.
export function fieldsAt(tables: FieldTables, path: string[]): Field[] {
  let fields = tables.objects[0] ?? [];
  for (const key of path) {
    const object = fields.find((field) => field.name === key)?.object;
    if (object === null || object === undefined) return [];
    fields = tables.objects[object] ?? [];
  }
  return fields;
}

/// The kind whose objects' names stand at a field; empty: none.
export function namedAt(path: string[]): string {
  const own: Record<string, string> = {backendRef: 'proxybackends', backendRefs: 'proxybackends', parentRefs: 'proxygateways',
                                       gatewayRef: 'proxygateways', gatewayRefs: 'proxygateways', vipRef: 'proxyvips',
                                       targetRef: 'proxyroutes', siteRef: 'sites'};
  return own[path.at(-1) ?? ''] ?? '';
}
