// A certified OpenID provider with a few users, whose tokens live as long as the arguments say:
//
//   node provider.mjs [access-seconds] [id-token-claims: conform|all] [offline-by-consent|no-refresh]
//
// `offline-by-consent`: a refresh token is given for offline_access alone, which takes consent; that is asked for.
// `no-refresh`: none is given.
//
// Prints `ready PORT`.
import http from 'node:http';
import {Provider} from 'oidc-provider';

const lifetime = Number(process.argv[2] ?? 300);
const conform = (process.argv[3] ?? 'conform') === 'conform';
const offlineByConsent = process.argv[4] === 'offline-by-consent';
const noRefresh = process.argv[4] === 'no-refresh';

const users = {
  alice: {
    email: 'alice@example.com', email_verified: true, name: 'Alice Ällin', preferred_username: 'alice',
    roles: ['buyer'], groups: ['/staff', '/shop/admins'],
    realm_access: {roles: ['realm-admin']},
    resource_access: {shop: {roles: ['cashier']}, other: {roles: ['root']}},
  },
  // Of the dashboard (tests/web): one who may do everything, one who may read everything, and one who may read a namespace.
  carol: {email: 'carol@example.com', email_verified: true, name: 'Carol', groups: ['edge:admins', 'system:masters']},
  erin: {email: 'erin@example.com', email_verified: true, name: 'Erin', groups: ['edge:readers']},
  dave: {email: 'dave@example.com', email_verified: true, name: 'Dave', groups: ['edge:readers:shop']},
  bob: {email: 'bob@example.com', email_verified: false, name: 'Bob', preferred_username: 'bob', groups: ['guests']},
};

const configuration = {
  clients: [{
    client_id: 'shop', client_secret: 'a secret: with + and %',
    redirect_uris: ['http://127.0.0.1/oauth2/callback'],
    post_logout_redirect_uris: ['http://127.0.0.1/bye'],
    grant_types: ['authorization_code', 'refresh_token'],
  }],
  claims: {
    openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'preferred_username'],
    roles: ['roles', 'groups', 'realm_access', 'resource_access'],
  },
  scopes: ['openid', 'offline_access'],
  conformIdTokenClaims: conform,
  findAccount: (context, id) => users[id] && {accountId: id, claims: () => ({sub: id, ...users[id]})},
  // Nobody is asked for consent.
  loadExistingGrant: async (context) => {
    const grant = new context.oidc.provider.Grant({
      clientId: context.oidc.client.clientId, accountId: context.oidc.session.accountId,
    });
    grant.addOIDCScope('openid email profile roles offline_access');
    await grant.save();
    return grant;
  },
  issueRefreshToken: async (context, client, code) => !noRefresh && (!offlineByConsent || code.scopes.has('offline_access')),
  // A refresh token is good once: a second use of it ends everything that was granted.
  rotateRefreshToken: true,
  pkce: {methods: ['S256'], required: () => true},
  ttl: {AccessToken: lifetime, IdToken: lifetime, RefreshToken: 3600, Grant: 3600, Session: 3600, Interaction: 600},
  cookies: {keys: ['of a test']},
};

const server = http.createServer();
server.listen(0, '127.0.0.1', () => {
  const {port} = server.address();
  const provider = new Provider(`http://localhost:${port}`, configuration);
  // The proxy's port is not known beforehand.
  provider.Client.prototype.redirectUriAllowed = (uri) => new URL(uri).pathname === '/oauth2/callback';
  provider.Client.prototype.postLogoutRedirectUriAllowed = (uri) => new URL(uri).pathname === '/bye';
  let refreshes = 0;
  provider.on('grant.success', (context) => {
    if (context.oidc.params.grant_type === 'refresh_token') ++refreshes;
  });
  const handle = provider.callback();
  server.on('request', (request, response) => {
    if (request.url === '/refreshes') return response.end(String(refreshes));
    handle(request, response);
  });
  console.log(`ready ${port}`);
});
