// Uses the dashboard with Chromium, by role and name:
//
//   node page.mjs CHROMIUM URL PART PLANTED
//
// Fails when something is not as it should be, when the page breaks its Content-Security-Policy, writes an error to the
// console, asks another server, or gets a reply that contains PLANTED.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {editParts} from './edit_parts.mjs';
import {visit} from './visit.mjs';

const [executablePath, base, part, planted] = process.argv.slice(2);
const {EDGECTL, FOLDER, PICTURES, PROXY} = process.env;
const {page, faults, heading, query, look, end} = await visit(executablePath, base, planted, {refused: part === 'read-only' ? [403] : part === 'old-controller' ? [501] : [400, 404, 409]});
const navigation = page.getByRole('navigation', {name: 'Pages'});
const follow = (name) => navigation.getByRole('link', {name}).first().click();
const rows = () => page.getByRole('main').getByRole('row');

function apply(name, path) {
  const file = `${FOLDER}/${name}.yaml`;
  writeFileSync(file, JSON.stringify({
    apiVersion: 'edgeproxy.io/v1alpha1', kind: 'ProxyRoute', metadata: {name},
    spec: {parentRefs: [{name: 'gw'}], rules: [{matches: [{path: {type: 'Exact', value: path}}], backendRef: {name: 'be'}}]},
  }));
  execFileSync(EDGECTL, ['apply', '-f', file]);
}

const proxied = (path) => execFileSync('curl', ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-H', 'Host: shop.example', `http://127.0.0.1:${PROXY}${path}`], {encoding: 'utf8'});
const patch = (name, change) => execFileSync(EDGECTL, ['patch', 'route', name, '--type', 'merge', '-p', JSON.stringify(change)]);

const parts = {
  ...editParts({page, heading, follow, query, patch, proxied}),

  async objects() {
    await page.goto('/');
    await heading('Overview');
    await page.getByRole('region', {name: 'What needs attention'}).getByRole('link', {name: 'ProxyRoute default/broken'}).waitFor();
    await page.getByRole('region', {name: 'Last changes'}).getByRole('listitem').first().waitFor();
    await page.getByRole('region', {name: 'Agents by group'}).getByRole('link', {name: '1 of 1 agent current'}).waitFor();
    await follow('ProxyRoute');
    await heading('ProxyRoute');
    await page.getByText('4 objects', {exact: true}).waitFor();

    // The address holds what is filtered and how it is sorted.
    await page.keyboard.press('/');
    const filter = page.getByRole('searchbox', {name: 'Filter'});
    assert.ok(await filter.evaluate((field) => field === document.activeElement));
    await page.keyboard.type('brok');
    await page.getByText('1 of 4 objects').waitFor();
    assert.equal(query().get('filter'), 'brok');
    await page.reload();
    await page.getByText('1 of 4 objects').waitFor();
    await page.getByRole('searchbox', {name: 'Filter'}).fill('nothing such');
    await page.getByRole('button', {name: 'Clear the filter'}).click();
    await page.getByRole('button', {name: 'Name', exact: true}).click();
    assert.equal(query().get('sort'), '-name');
    await page.getByRole('columnheader', {name: /^Name/}).and(page.locator('[aria-sort=descending]')).waitFor();
    assert.match(await rows().nth(1).innerText(), /^preview/);
    await page.getByRole('radio', {name: /^Failing/}).check();
    await page.getByText('1 of 4 objects').waitFor();
    await page.getByRole('radio', {name: 'All', exact: true}).check();

    // What is applied elsewhere is seen without loading anything again.
    apply('added', '/added');
    await page.getByRole('link', {name: 'added'}).waitFor();

    // From link to link by arrow keys.
    await page.getByRole('link', {name: 'late', exact: true}).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await heading('broken');
    assert.ok(await page.getByRole('heading', {level: 1}).evaluate((title) => title === document.activeElement));
    assert.match(await page.title(), /^broken/);
    await page.getByRole('region', {name: 'Conditions'}).first().getByRole('cell', {name: 'ResolvedRefs'}).first().waitFor();
    await page.getByRole('region', {name: 'Refers to'}).getByText('does not exist').waitFor();
    await page.getByRole('radio', {name: 'YAML'}).check();
    const yaml = await page.getByRole('region', {name: 'YAML'}).innerText();
    assert.match(yaml, /kind: ProxyRoute/);
    assert.match(yaml, /<redacted>/);
    assert.equal(query().get('view'), 'yaml');
    await page.getByRole('radio', {name: 'Status'}).check();
    await page.getByText('observedGeneration').first().waitFor();
    await page.getByRole('region', {name: 'Refers to'}).getByRole('link', {name: 'default/gw'}).click();
    await heading('gw');
    await page.getByRole('region', {name: 'Referred to by'}).getByRole('link', {name: 'default/cart'}).waitFor();
    await page.goBack();
    await heading('broken');
    await page.goto('/objects/proxyroutes/default/none');
    await page.getByText('The object does not exist').waitFor();
    await page.goto('/nothing/here');
    await heading('There is no such page.');
  },

  async explain() {
    await page.goto('/');
    await follow('Explain a request');
    await heading('Explain a request');
    const request = page.getByRole('textbox', {name: 'Request', exact: true});
    await request.fill(`curl -s -X GET 'http://shop.example:8080/cart?id=7' \\\n  -H 'X-Env: "staging"' --compressed`);
    await page.getByRole('button', {name: 'Explain'}).click();
    const winner = page.getByRole('region', {name: 'Matching rule'});
    await winner.getByRole('link', {name: 'default/cart'}).waitFor();
    assert.equal(query().get('request'), 'GET http://shop.example:8080/cart?id=7');
    assert.equal(query().get('header'), 'X-Env: "staging"');
    await page.getByText('ignored: -s, --compressed').waitFor();
    const rules = page.getByRole('region', {name: 'Rules that were considered'});
    await rules.getByRole('row', {name: /Does not match.*default\/preview.*x-env == "preview" does not hold/}).waitFor();
    await page.getByText('All engines agree.').waitFor();
    await winner.getByRole('link', {name: 'default/cart'}).click();
    await heading('cart');
    await page.goBack();
    await winner.waitFor();

    await request.fill('GET http://nobody.example:8080/');
    await request.press('Enter');
    await page.getByText('No rule matches').waitFor();
    await request.fill('nonsense');
    await request.press('Enter');
    await page.getByRole('alert').waitFor();
  },

  async agents() {
    await page.goto('/agents');
    await heading('Agents');
    await page.getByRole('row', {name: /standalone.*Current/}).waitFor();
    await page.getByRole('link', {name: 'standalone'}).click();
    await heading('standalone');
    await page.getByRole('region', {name: 'Backends'}).first().getByRole('link', {name: 'default/be'}).waitFor();
    await page.getByRole('button', {name: 'Drain', exact: true}).click();
    const dialog = page.getByRole('dialog', {name: 'Drain standalone?'});
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({state: 'detached'});
    await page.getByRole('button', {name: 'Drain', exact: true}).click();
    await dialog.getByRole('button', {name: 'Drain'}).click();
    await page.getByText('standalone gives its virtual addresses away.').waitFor();
    await page.getByRole('button', {name: 'End the drain'}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'End the drain'}).click();
    await page.getByText('standalone may hold virtual addresses again.').waitFor();
    await page.goto('/agents/nobody');
    await page.getByText('The controller knows no such agent.').waitFor();
  },

  async traffic() {
    await page.goto('/traffic');
    await heading('Traffic');
    for (let i = 0; i < 20; ++i) execFileSync('curl', ['-s', '-H', 'Host: shop.example', `http://127.0.0.1:${PROXY}/cart`]);
    const row = page.getByRole('row', {name: /default\/cart.*default\/gw/});
    await row.waitFor();
    await row.getByRole('img', {name: /^Requests per second: now/}).waitFor();
    await page.getByRole('radio', {name: 'Backend'}).check();
    await page.getByRole('row', {name: /default\/be/}).waitFor();
    assert.equal(query().get('by'), 'backend');
    await page.getByRole('radio', {name: 'Agent'}).check();
    await page.getByRole('row', {name: /standalone/}).waitFor();
    await page.getByRole('button', {name: 'Pause'}).click();
    await page.getByRole('button', {name: 'Resume', pressed: true}).click();
    await page.getByRole('radio', {name: 'Route'}).check();
    await page.getByRole('link', {name: 'default/cart'}).click();
    await heading('cart');
  },

  async 'read-only'() {
    await page.goto('/agents/standalone');
    await heading('standalone');
    await page.getByRole('region', {name: 'Backends'}).first().waitFor();
    await navigation.getByText('Read-only').waitFor();
    assert.equal(await page.getByRole('button', {name: 'Drain'}).count(), 0);
    await page.goto('/objects/proxyroutes/default/cart');
    await page.getByRole('region', {name: 'Conditions'}).first().waitFor();
    await page.goto('/edit/proxyroutes/default/cart');
    await page.getByText('This server is read-only').waitFor();
    await page.goto('/history');
    await page.getByRole('slider').waitFor();
    for (const name of ['Edit', 'Delete', 'Create', 'Serve this program again']) assert.equal(await page.getByText(name, {exact: true}).count(), 0, name);
    const status = await page.evaluate(() => fetch('/api/agents/standalone/drain', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}'})
      .then((reply) => reply.text().then(() => reply.status)));
    assert.equal(status, 403);
  },

  /// The last programs of each group of agents, and the way back of one alone.
  async groups() {
    patch('cart', {spec: {hostnames: ['shop.example', 'second.example']}});
    await page.goto('/');
    await follow('History');
    await heading('History');
    const group = page.getByRole('combobox', {name: 'Group of agents'});
    await group.selectOption('canary');
    assert.equal(query().get('group'), 'canary');
    await page.getByRole('row', {name: /cart.*Served now/}).waitFor();
    const slider = page.getByRole('slider', {name: 'Program of the history'});
    await slider.focus();
    await page.keyboard.press('ArrowLeft');
    const old = query().get('program');
    await page.getByRole('combobox', {name: /^Compare/}).selectOption({label: 'the configuration as it is now'});
    const changed = page.getByRole('region', {name: 'Requests that are treated otherwise', exact: true}).first();
    await changed.getByText('second.example').first().waitFor();
    // A gateway of another group alone is not in what this one is given.
    assert.equal(await changed.getByText('edge-only.example').count(), 0);
    await page.getByRole('button', {name: 'Serve this program again', exact: true}).click();
    await page.getByRole('button', {name: 'Roll back', exact: true}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Roll back'}).click();
    await page.getByText(`A rollback holds agents to ${old.slice(0, 12)}.`).waitFor();
    const pinned = (name) => JSON.parse(execFileSync(EDGECTL, ['history', '--group', name, '-o', 'json'], {encoding: 'utf8'})).filter((one) => one.pinned).map((one) => one.program);
    assert.deepEqual([pinned('canary'), pinned('default')], [[old], []]);
    await page.reload();
    await page.getByText(`A rollback holds agents to ${old.slice(0, 12)}.`).waitFor();
    await page.getByRole('button', {name: 'End the rollback', exact: true}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'End the rollback'}).click();
    await page.getByText('The rollback has ended.').waitFor();
    assert.deepEqual(pinned('canary'), []);
    await group.selectOption('default');
    await page.getByRole('row', {name: /cart/}).first().waitFor();
  },

  /// In front of a controller that gives no programs away.
  async 'old-controller'() {
    await page.goto('/history');
    await heading('History');
    await page.getByRole('row', {name: /an earlier change/}).waitFor();
    const told = page.getByRole('alert').filter({hasText: 'the controller is older than this server'});
    await told.waitFor();
    await page.getByRole('slider', {name: 'Program of the history'}).focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByText('This is the oldest program that is kept').waitFor();
    await page.getByRole('textbox', {name: 'Explain a request under this program'}).fill('GET http://shop.example:8080/cart');
    await page.getByRole('button', {name: 'Explain', exact: true}).click();
    await heading('Explain a request');
    await told.waitFor();
    // What does not need them works on: the live configuration, and the way back.
    await page.getByRole('link', {name: 'Explain by the configuration as it is now'}).click();
    await page.getByRole('region', {name: 'Matching rule'}).getByRole('link', {name: 'default/cart'}).waitFor();
    await page.goto('/history');
    await page.getByRole('slider', {name: 'Program of the history'}).focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('button', {name: 'Serve this program again', exact: true}).click();
    await page.getByRole('button', {name: 'Roll back', exact: true}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Roll back'}).click();
    await page.getByText('is served until the rollback ends.').waitFor();
  },

  /// Every page in both themes and from small to large: nothing that keeps people out, nothing that sticks out.
  async everywhere() {
    const request = encodeURIComponent('GET http://shop.example:8080/cart');
    const pages = {overview: '/', traffic: '/traffic', explain: `/explain?request=${request}`, agents: '/agents', agent: '/agents/standalone',
                   routes: '/objects/proxyroutes', route: '/objects/proxyroutes/default/broken', yaml: '/objects/proxyroutes/default/broken?view=yaml',
                   empty: '/objects/proxypolicies', edit: '/edit/proxyroutes/default/broken', create: '/create/proxyroutes',
                   delete: '/delete/proxyroutes/default/cart', history: '/history', claims: '/claims', missing: '/nothing'};
    await page.goto('/');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to content');
    await page.getByRole('radio', {name: 'Dark'}).check();
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), 'dark');
    await page.getByRole('radio', {name: 'Auto'}).check();
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({colorScheme});
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(path);
        await page.getByRole('heading', {level: 1}).waitFor();
        await page.getByText('Live', {exact: true}).waitFor({state: 'attached'});
        if (name === 'edit' || name === 'create') await page.getByRole('textbox', {name: 'YAML of the ProxyRoute'}).waitFor();
        if (name === 'explain') await page.getByRole('region', {name: 'Matching rule'}).waitFor();
        if (PICTURES) await page.screenshot({path: `${PICTURES}/${name}-${colorScheme}.png`});
        await look(`${name}, ${colorScheme}`);
      }
    }
    // Nothing moves for whoever does not want it.
    await page.emulateMedia({reducedMotion: 'reduce'});
    for (const path of [pages.overview, pages.routes, '/topology']) {
      await page.goto(path);
      await page.getByRole('heading', {level: 1}).waitFor();
      const moving = await page.evaluate(() => [...document.querySelectorAll('*')].filter((one) => {
        const style = getComputedStyle(one);
        return style.animationName !== 'none' || style.transitionDuration.split(', ').some((time) => time !== '0s');
      }).map((one) => one.outerHTML.slice(0, 80)));
      if (moving.length > 0) faults.push(`${path} moves: ${moving[0]}`);
    }
    for (const width of [360, 800, 2560]) {
      await page.setViewportSize({width, height: 800});
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(path);
        await page.getByRole('heading', {level: 1}).waitFor();
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        if (wide > width) faults.push(`${name} is ${wide} wide at ${width}`);
      }
    }
    await page.setViewportSize({width: 360, height: 740});
    await page.goto('/');
    const menu = page.getByRole('button', {name: 'Menu'});
    await menu.click();
    await follow('Traffic');
    await heading('Traffic');
    await page.getByRole('button', {name: 'Menu', expanded: false}).waitFor();
  },
};

try {
  await parts[part]();
} catch (error) {
  faults.push(error.stack);
  if (PICTURES) await page.screenshot({path: `${PICTURES}/failed-${part}.png`}).catch(() => {});
} finally {
  await end();
}
assert.deepEqual(faults, []);
console.log('done');
