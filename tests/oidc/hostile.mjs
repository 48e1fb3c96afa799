// A provider that lies as it is told to. `/lie?name=value&...` sets what the next answers are like; without a lie it is
// a sound provider that logs everybody in as `mallory` without a question.
//
//   issuer, audience, azp, nonce, at_hash, exp, subject: in place of the id token's claims; `-` leaves the claim out
//   alg: `none`, or `HS256` with the client's secret; key: `other` signs by a key that nobody published
//   expires_in: how long tokens live, seconds; rotate: `once`, a refresh token is good for one use; `leeway`, and for
//   ten seconds after it
//   token_status, token_body: what the token endpoint answers; iss: what the browser brings back
//
// Prints `ready PORT`.
import http from 'node:http';
import {createHash, createHmac, createSign, generateKeyPairSync, randomBytes} from 'node:crypto';

const base64url = (bytes) => Buffer.from(bytes).toString('base64url');
const keys = generateKeyPairSync('rsa', {modulusLength: 2048});
const otherKeys = generateKeyPairSync('rsa', {modulusLength: 2048});
const codes = new Map();
let lies = {};
let issuer = '';
let tokens = 0;
const usedAt = new Map();
let refused = 0;

function sign(claims) {
  const alg = lies.alg ?? 'RS256';
  const text = `${base64url(JSON.stringify({alg, kid: 'one'}))}.${base64url(JSON.stringify(claims))}`;
  if (alg === 'none') return `${text}.`;
  if (alg === 'HS256') return `${text}.${createHmac('sha256', 'a secret: with + and %').update(text).digest('base64url')}`;
  const key = lies.key === 'other' ? otherKeys.privateKey : keys.privateKey;
  return `${text}.${createSign('SHA256').update(text).sign(key).toString('base64url')}`;
}

function idToken(nonce, access) {
  const now = Math.floor(Date.now() / 1000);
  const half = createHash('sha256').update(access).digest().subarray(0, 16);
  const claims = {
    iss: issuer, aud: 'shop', sub: 'mallory', iat: now, exp: now + 300, nonce, at_hash: base64url(half),
    email: 'mallory@example.com', name: 'Mallory',
  };
  const named = {issuer: 'iss', audience: 'aud', azp: 'azp', nonce: 'nonce', at_hash: 'at_hash', exp: 'exp', subject: 'sub'};
  for (const [lie, claim] of Object.entries(named)) {
    if (lies[lie] === undefined) continue;
    if (lies[lie] === '-') delete claims[claim];
    else if (lie === 'exp') claims.exp = now + Number(lies.exp);
    else if (lie === 'audience') claims.aud = lies.audience.split(',');
    else claims[claim] = lies[lie];
  }
  return sign(claims);
}

function authorize(query, response) {
  const code = randomBytes(16).toString('hex');
  codes.set(code, {nonce: query.get('nonce'), challenge: query.get('code_challenge')});
  const to = new URL(query.get('redirect_uri'));
  to.searchParams.set('code', code);
  to.searchParams.set('state', query.get('state'));
  if (lies.iss !== undefined) to.searchParams.set('iss', lies.iss);
  response.writeHead(302, {location: to.href}).end();
}

function token(form, response) {
  ++tokens;
  const json = (status, body) =>
    response.writeHead(status, {'content-type': 'application/json'}).end(typeof body === 'string' ? body : JSON.stringify(body));
  if (lies.token_status !== undefined) return json(Number(lies.token_status), lies.token_body ?? '{}');
  if (lies.token_body !== undefined) return json(200, lies.token_body);
  const access = randomBytes(16).toString('hex');
  const expires_in = Number(lies.expires_in ?? 300);
  if (form.get('grant_type') === 'refresh_token') {
    const answer = {access_token: access, token_type: 'Bearer', expires_in, id_token: idToken(undefined, access)};
    if (lies.rotate === undefined) return json(200, answer);
    const used = usedAt.get(form.get('refresh_token'));
    const leeway = lies.rotate === 'leeway' ? 10_000 : 0;
    if (used !== undefined && Date.now() - used >= leeway) {
      ++refused;
      return json(400, {error: 'invalid_grant'});
    }
    if (used === undefined) usedAt.set(form.get('refresh_token'), Date.now());
    return json(200, {...answer, refresh_token: 'refresh-' + access});
  }
  const known = codes.get(form.get('code'));
  codes.delete(form.get('code'));
  const challenge = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
  if (!known || known.challenge !== challenge) return json(400, {error: 'invalid_grant'});
  json(200, {
    access_token: access, token_type: 'Bearer', expires_in,
    refresh_token: 'refresh-' + access, id_token: idToken(known.nonce, access),
  });
}

const server = http.createServer((request, response) => {
  const url = new URL(request.url, issuer);
  let body = '';
  request.on('data', (chunk) => { body += chunk; });
  request.on('end', () => {
    switch (url.pathname) {
      case '/lie': lies = Object.fromEntries(url.searchParams); return response.end('ok');
      case '/refused': return response.end(String(refused));
      case '/tokens': return response.end(String(tokens));
      case '/.well-known/openid-configuration':
        return response.end(JSON.stringify({
          issuer, authorization_endpoint: issuer + '/auth', token_endpoint: issuer + '/token',
          jwks_uri: issuer + '/jwks', id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
          authorization_response_iss_parameter_supported: process.argv[2] === 'says-iss',
        }));
      case '/jwks':
        return response.end(JSON.stringify({keys: [{...keys.publicKey.export({format: 'jwk'}), kid: 'one', use: 'sig'}]}));
      case '/auth': return authorize(url.searchParams, response);
      case '/token': return token(new URLSearchParams(body), response);
      default: return response.writeHead(404).end();
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  issuer = `http://localhost:${server.address().port}`;
  console.log(`ready ${server.address().port}`);
});
