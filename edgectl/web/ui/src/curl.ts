/// Reads a curl command as a request: what routing looks at, and which options were not read.

export interface CurlRequest {
  request: string;
  headers: string[];
  ignored: string[];
}

/// Splits as a shell does: quotes, escapes, line ends behind a backslash. null: a quote is open.
export function words(text: string): string[] | null {
  const out: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < text.length; ++at) {
    const c = text[at]!;
    if (c === "'" || c === '"') {
      const ansi = c === "'" && word !== null && word.endsWith('$');
      if (ansi) word = word!.slice(0, -1);
      let inner = '';
      for (++at; at < text.length && text[at] !== c; ++at) {
        const escaped = text[at] === '\\' && at + 1 < text.length && (c === '"' || ansi);
        inner += escaped ? text[++at] : text[at];
      }
      if (at >= text.length) return null;
      word = (word ?? '') + inner;
    } else if (c === '\\') {
      ++at;
      if (text[at] === '\r') ++at;
      if (at < text.length && text[at] !== '\n') word = (word ?? '') + text[at];
    } else if (/\s/.test(c)) {
      if (word !== null) out.push(word);
      word = null;
    } else {
      word = (word ?? '') + c;
    }
  }
  if (word !== null) out.push(word);
  return out;
}

/// Options with a value that routing does not look at.
const kOthers = new Set(['-o', '--output', '-w', '--write-out', '-m', '--max-time', '--connect-timeout', '--retry', '--cacert', '--cert',
  '-E', '--key', '--resolve', '--connect-to', '-x', '--proxy', '-c', '--cookie-jar', '-T', '--upload-file', '-u', '--user']);
const kBodies = new Set(['-d', '--data', '--data-raw', '--data-binary', '--data-ascii', '--data-urlencode', '--json', '-F', '--form']);
const kLetters = 'XHAeobdFmwxTuEc';

/// null: not a curl command, or one without a URL.
export function readCurl(text: string): CurlRequest | null {
  const all = words(text.trim());
  if (!all || !/(^|\/)curl(\.exe)?$/.test(all[0] ?? '')) return null;
  let method = '';
  let url = '';
  let get = false;
  let body = false;
  const headers: string[] = [];
  const ignored: string[] = [];
  for (let at = 1; at < all.length; ++at) {
    let option = all[at]!;
    if (!option.startsWith('-') || option === '-') {
      if (url === '') url = option;
      continue;
    }
    let value: string | undefined;
    if (option.startsWith('--') && option.includes('=')) {
      value = option.slice(option.indexOf('=') + 1);
      option = option.slice(0, option.indexOf('='));
    } else if (!option.startsWith('--') && option.length > 2 && kLetters.includes(option[1]!)) {
      value = option.slice(2);
      option = option.slice(0, 2);
    }
    const take = () => value ?? all[++at] ?? '';
    if (option === '-X' || option === '--request') method = take();
    else if (option === '-H' || option === '--header') headers.push(take());
    else if (option === '-A' || option === '--user-agent') headers.push(`User-Agent: ${take()}`);
    else if (option === '-e' || option === '--referer') headers.push(`Referer: ${take()}`);
    else if (option === '-b' || option === '--cookie') headers.push(`Cookie: ${take()}`);
    else if (option === '--url') url = take();
    else if (option === '-I' || option === '--head') method ||= 'HEAD';
    else if (option === '-G' || option === '--get') get = true;
    else if (kBodies.has(option)) {
      take();
      body = true;
    } else if (kOthers.has(option)) {
      take();
      ignored.push(option);
    } else ignored.push(option);
  }
  if (url === '') return null;
  if (!/^[a-z]+:\/\//i.test(url)) url = `http://${url}`;
  if (method === '') method = body && !get ? 'POST' : 'GET';
  return {request: `${method} ${url}`, headers: headers.filter((header) => header.includes(':')), ignored};
}
