/// The part of the API behind editing and time.

export interface Field {
  name: string;
  type: string;
  list: boolean;
  text: string;
  remarks: string;
  required: boolean;
  object: number | null;
  values: string[];
}
export interface FieldTables {
  kind: string;
  apiVersion: string;
  namespaced: boolean;
  objects: Field[][];
}
export interface EditText {
  kind: string;
  plural: string;
  namespace: string;
  name: string;
  version: string;
  yaml: string;
}
export type Severity = 'error' | 'warning' | 'note';
export interface Diagnostic {
  code: string;
  severity: Severity;
  message: string;
  resource: string;
  field: string;
  notes: string[];
  fix: string;
  from: number | null;
  to: number | null;
}
export interface Checked {
  notes: string[];
  diagnostics: Diagnostic[];
  errors: number;
  brought: Diagnostic[];
  solved: Diagnostic[];
}
export interface Treatment {
  rule: string;
  treatment: string[];
}
export interface DiffClass {
  hosts: string[];
  where: string;
  before: Treatment;
  after: Treatment;
  request: string;
}
export interface ClaimOutcome {
  result: 'holds' | 'fails' | 'notDecided' | 'invalid';
  request: string;
  backend: string;
  reason: string;
}
export interface Difference extends Checked {
  equal: boolean;
  classes: DiffClass[];
  classCount: number;
  settings: {setting: string; before: string; after: string}[];
  settingCount: number;
  undecided: string[];
  claims: {claim: string; before: ClaimOutcome; after: ClaimOutcome}[];
}
export interface WrittenObject {
  kind: string;
  plural: string;
  namespace: string;
  name: string;
  uid: string;
  version: string;
  gone: boolean;
}
export interface Written {
  done: 'created' | 'configured' | 'unchanged' | 'deleted';
  object: WrittenObject;
  warnings: string[];
}
export interface Progress {
  over: boolean;
  failed: boolean;
  compiled: boolean;
  current: number;
  objects: {kind: string; namespace: string; name: string; state: 'waiting' | 'taken' | 'rejected' | 'apart'; reason: string}[];
  agents: {name: string; group: string; state: 'current' | 'behind' | 'refused' | 'held'; reason: string}[];
}
export interface Conflict {
  error: string;
  conflict: true;
  yaml: string;
  version: string;
}
export interface Analysis {
  notes: string[];
  findings: Diagnostic[];
  cost: {
    host: string;
    listener: string;
    rules: number;
    ownRules: number;
    paths: number;
    tableBytes: number;
    longestPath: string;
    bound: {hosts: number; pathProbes: number; conditions: number; patternSets: number};
    patterns: {pattern: string; subject: string; positions: number}[];
  }[];
}

/// What a viewer may do with objects of a kind in a namespace.
export interface Rights {
  create: boolean;
  update: boolean;
  delete: boolean;
}

/// An empty `namespace`: in all of them, or of a kind without.
export const rightsPath = (plural: string, namespace: string) =>
  `/api/rights/${[plural, namespace].filter((part) => part !== '').map(encodeURIComponent).join('/')}`;

export const isConflict = (body: unknown): body is Conflict =>
  typeof body === 'object' && body !== null && (body as {conflict?: unknown}).conflict === true;

/// Positions in a text as bytes of UTF-8, as positions in a string.
export function positionsIn(text: string): (byte: number) => number {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length === text.length) return (byte) => Math.min(byte, text.length);
  const decoder = new TextDecoder();
  return (byte) => decoder.decode(bytes.subarray(0, byte)).length;
}
