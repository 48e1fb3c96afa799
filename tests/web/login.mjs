// Logs in to the dashboard with Chromium at a real provider, and uses it with the rights of whoever has logged in:
//
//   node login.mjs CHROMIUM URL ISSUER PART PLANTED
import assert from 'node:assert/strict';
import {visit} from './visit.mjs';

const [chromium, base, issuer, part, planted] = process.argv.slice(2);
const faults = [];
const pages = [];

/// A browser of its own for each who looks.
async function browse() {
  const seen = await visit(chromium, base, planted, {others: [issuer], refused: [401, 403, 404]});
  const {page} = seen;
  pages.push(page);
  const login = () => page.getByPlaceholder('Enter any login');
  return {
    ...seen, login,
    main: page.getByRole('main'),
    follow: (name) => page.getByRole('navigation', {name: 'Pages'}).getByRole('link', {name}).first().click(),
    async logIn(user) {
      await login().fill(user);
      await page.getByPlaceholder('and password').fill('x');
      await page.getByRole('button', {name: 'Sign-in'}).click();
      await page.waitForURL(`${base}/**`);
    },
    /// A call by the page itself.
    post: (path, body) => page.evaluate(([to, text]) => fetch(to, {method: 'POST', headers: {'Content-Type': 'application/json'}, body: text}).then((reply) => reply.status),
                                        [path, JSON.stringify(body)]),
    async leave() {
      await seen.end();
      faults.push(...seen.faults);
    },
  };
}

const kWays = ['Edit', 'Delete', 'Create', 'Drain', 'Serve this program again', 'End the rollback'];
/// None of what changes something is on the page.
async function offersNothing(page, where) {
  for (const name of kWays) assert.equal(await page.getByText(name, {exact: true}).count(), 0, `${name} on ${where}`);
}

const parts = {
  async session() {
    const user = await browse();
    const {page, heading, look, main} = user;
    const asked = [];
    page.on('request', (request) => request.url().startsWith(issuer) && asked.push(new URL(request.url())));
    await page.goto('/objects/proxyroutes?filter=cart');
    await user.login().waitFor();
    const way = asked.find((one) => one.searchParams.has('code_challenge'));
    assert.equal(way?.searchParams.get('code_challenge_method'), 'S256');
    assert.equal(way.searchParams.get('redirect_uri'), `${base}/oauth2/callback`);
    await user.logIn('carol');
    // Where somebody wanted to go, with all that the address held.
    assert.equal(page.url(), `${base}/objects/proxyroutes?filter=cart`);
    await heading('ProxyRoute');
    await page.getByText('carol@example.com').waitFor();
    await page.getByRole('link', {name: 'Create', exact: true}).waitFor();
    await main.getByRole('link', {name: 'cart', exact: true}).click();
    await heading('cart');
    await page.getByRole('link', {name: 'Edit', exact: true}).waitFor();
    await page.getByRole('link', {name: 'Delete', exact: true}).waitFor();
    await look('an object, logged in');
    // No script of the page reads the session.
    assert.equal(await page.evaluate(() => document.cookie), '');
    await page.goto('/agents/standalone');
    await page.getByRole('button', {name: 'Drain', exact: true}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Drain'}).click();
    await page.getByText('standalone gives its virtual addresses away.').waitFor();
    await page.getByRole('button', {name: 'End the drain'}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'End the drain'}).click();
    await page.getByText('standalone may hold virtual addresses again.').waitFor();

    // A logout ends the session here and at the provider: whoever comes next is asked who they are.
    await page.getByRole('link', {name: 'Log out'}).click();
    const confirmation = page.getByRole('button', {name: /sign me out/});
    await confirmation.or(user.login()).first().waitFor();
    if (await confirmation.count() > 0) {
      await confirmation.click();
      await page.waitForLoadState();
    }
    await page.goto('/agents/standalone');
    await user.login().waitFor();
    await user.logIn('carol');
    await heading('standalone');
    await user.leave();
  },

  /// Each sees and may what is theirs, in browsers side by side.
  async rights() {
    const [reader, guest] = [await browse(), await browse()];
    await reader.page.goto('/');
    await reader.logIn('erin');
    await reader.heading('Overview');
    await guest.page.goto('/');
    await guest.logIn('dave');
    await guest.heading('Overview');

    // One who may read everything, and change nothing.
    const {page} = reader;
    await reader.follow('ProxyRoute');
    await reader.main.getByRole('link', {name: 'cart', exact: true}).waitFor();
    await page.evaluate(() => fetch('/api/rights/proxyroutes').then((reply) => reply.text()));
    await offersNothing(page, 'a list');
    await reader.main.getByRole('link', {name: 'cart', exact: true}).click();
    await page.getByRole('region', {name: 'Conditions'}).first().waitFor();
    await offersNothing(page, 'an object');
    await page.goto('/edit/proxyroutes/default/cart');
    await page.getByText('You may not do this with your rights').waitFor();
    await page.goto('/delete/proxyroutes/default/cart');
    await page.getByText('You may not do this with your rights').waitFor();
    assert.equal(await page.getByRole('button', {name: 'Delete', exact: true}).count(), 0);
    await page.goto('/history');
    await page.getByRole('slider', {name: 'Program of the history'}).focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByText('Rolling back takes the right to update agents.').waitFor();
    await offersNothing(page, 'the history');
    const old = new URL(page.url()).searchParams.get('program');
    await page.goto('/agents/standalone');
    await page.getByRole('region', {name: 'Backends'}).first().waitFor();
    await offersNothing(page, 'an agent');
    await reader.look('an agent, for a reader');

    // One of a single namespace.
    await guest.follow('ProxyRoute');
    await guest.main.getByRole('link', {name: 'tea', exact: true}).waitFor();
    await guest.page.getByText('1 object', {exact: true}).waitFor();
    await offersNothing(guest.page, 'a list');
    for (const [path, title] of [['/agents', 'Agents'], ['/history', 'History'], ['/requests', 'Access log'], ['/traces', 'Traces']]) {
      await guest.page.goto(path);
      await guest.heading(title);
      await guest.page.getByText('you may not list agents').first().waitFor();
    }
    await guest.look('the traces, for a guest');
    await guest.page.goto('/objects/proxyroutes/default/cart');
    await guest.page.getByText('The object does not exist').waitFor();
    await guest.page.goto('/topology');
    await guest.main.getByRole('link', {name: /^ProxyRoute shop\/tea/}).waitFor();
    assert.equal(await guest.page.getByText('default/cart').count(), 0);

    // What is not offered is refused as well.
    for (const one of [reader, guest]) {
      assert.equal(await one.post('/api/agents/standalone/drain', {}), 403);
      assert.equal(await one.post('/api/rollback', {program: old}), 403);
      assert.equal(await one.post('/api/release', {}), 403);
      for (const path of ['/api/apply', '/api/delete']) {
        const {version, yaml} = await one.page.evaluate(() => fetch('/api/edit/proxyroutes/shop/tea').then((reply) => reply.json()));
        assert.ok(version);
        assert.equal(await one.post(path, {plural: 'proxyroutes', namespace: 'shop', name: 'tea', version, yaml: yaml.replace('tea.example', 'other.example')}), 403, path);
      }
    }
    await reader.leave();
    await guest.leave();
  },

  /// Tokens live for some seconds: the session is refreshed while somebody looks, and nobody is asked.
  async refresh() {
    const user = await browse();
    await user.page.goto('/');
    await user.logIn('carol');
    await user.heading('Overview');
    const refreshes = async () => Number(await (await fetch(`${issuer}/refreshes`)).text());
    const begin = Date.now();
    for (let turn = 0; await refreshes() < 2; ++turn) {
      assert.ok(Date.now() - begin < 90_000, 'nothing was refreshed');
      await user.follow(turn % 2 === 0 ? 'ProxyRoute' : 'Overview');
      await user.heading(turn % 2 === 0 ? 'ProxyRoute' : 'Overview');
    }
    await user.page.getByText('carol@example.com').waitFor();
    await user.page.getByText('Live', {exact: true}).waitFor();
    await user.leave();
  },

  /// Nothing refreshes the session: at its end the page leads to the login, and from there back to where it was.
  async expiry() {
    const user = await browse();
    const {page} = user;
    await page.goto('/objects/proxyroutes/default/cart?view=yaml');
    await user.logIn('carol');
    await user.heading('cart');
    // Who is still known at the provider comes back without a word.
    await page.waitForRequest((request) => request.url().startsWith(`${issuer}/auth?`));
    await page.waitForURL(`${base}/objects/proxyroutes/default/cart?view=yaml`);
    await user.heading('cart');
    // Who is not is asked.
    await page.context().clearCookies({domain: 'localhost'});
    await user.login().waitFor({timeout: 60_000});
    await user.logIn('dave');
    assert.equal(page.url(), `${base}/objects/proxyroutes/default/cart?view=yaml`);
    await page.getByText('The object does not exist').waitFor();
    await user.leave();
  },
};

try {
  await parts[part]();
} catch (error) {
  faults.push(error.stack);
  for (const page of pages) console.error(await page.evaluate(() => `${location.href}\n${(document.querySelector('main') ?? document.body).innerText}`).catch(() => ''));
}
assert.deepEqual(faults, []);
console.log('done');
process.exit(0);
