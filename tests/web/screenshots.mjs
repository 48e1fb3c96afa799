// Takes a picture of each page of the dashboard in both themes, in front of a shop with traffic:
//
//   node screenshots.mjs CHROMIUM BIN_DIR OUT_DIR
//
// Pictures are small: 256 colours, and together at most 2 MB, else it fails.
import assert from 'node:assert/strict';
import {mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {smallPng} from './png.mjs';
import {Shop} from './shop.mjs';
import {visit} from './visit.mjs';

const kMost = 2_000_000;
const kTraffic = 25_000;
const [chromium, bin, out] = process.argv.slice(2);
const folder = mkdtempSync(`${tmpdir()}/edge-pictures-`);
const shop = await new Shop(bin, folder, 'planted').start();
const condition = (type) => ({type, status: 'True', reason: type, message: '', lastTransitionTime: new Date(Date.now() - 3_600_000).toISOString().replace(/\..*/, 'Z')});
shop.report('sites', 'hamburg', {peers: ['edge-system/porto'], links: {ready: 2, total: 2, summary: '2/2'}, conditions: [condition('Ready')]});
shop.report('sites', 'porto', {links: {ready: 1, total: 1, summary: '1/1'}, conditions: [condition('Ready')]});
shop.report('wanpolicies', 'voice', {paths: [{site: 'edge-system/hamburg', peer: 'edge-system/porto', links: ['edge-system/hamburg-fibre'],
                                              since: condition('Ready').lastTransitionTime, reason: 'lowest latency'}], conditions: [condition('Ready')]});
shop.report('wanlinks', 'hamburg-fibre', {latency: '12ms', jitter: '1ms', loss: '0%', conditions: [condition('Healthy')]});
shop.report('wanlinks', 'hamburg-lte', {latency: '48ms', jitter: '9ms', loss: '0.2%', conditions: [condition('Healthy')]});
shop.report('wanlinks', 'porto-fibre', {latency: '31ms', jitter: '2ms', loss: '0%', conditions: [condition('Healthy')]});
// So that charts have something to show.
await new Promise((resolve) => setTimeout(resolve, kTraffic));
// A history of two programs.
shop.edgectl('patch', 'routes', 'search', '-n', 'shop', '--type', 'merge', '-p', JSON.stringify({spec: {hostnames: ['shop.example', 'search.shop.example']}}));
const {traces} = await (await fetch(`${shop.url}/api/traces?limit=1&service=edge-proxy&operation=GET+search`)).json();
const trace = await (await fetch(`${shop.url}/api/traces/${traces[0].traceID}`)).json();
const request = encodeURIComponent('GET http://shop.example:80/cart');
const pages = {
  overview: '/', topology: `/topology?at=${encodeURIComponent('3 ProxyRoute shop/cart')}`, traffic: '/traffic', requests: '/requests?follow=off', traces: '/traces',
  trace: `/traces/${traces[0].traceID}?span=${trace.spans.find((span) => span.kind === 'server')?.id ?? ''}`, explain: `/explain?request=${request}`, policies: '/policies?by=route',
  certificates: '/certificates', addresses: '/addresses', sites: '/sites', agents: '/agents', objects: '/objects/proxyroutes', object: '/objects/proxyroutes/shop/cart',
  agent: '/agents/standalone', edit: '/edit/proxyroutes/shop/cart', difference: '/delete/proxyroutes/shop/checkout', history: '/history', claims: '/claims',
};
const {page, faults, end} = await visit(chromium, shop.url, '');
faults.length = 0;
await page.addInitScript(() => localStorage.setItem('edge-claims', JSON.stringify([
  'host == "staff.shop.example" implies policy BasicAuth', 'path prefix "/cart" implies not backend shop/search', 'host == "api.example" implies policy OIDC'])));
mkdirSync(out, {recursive: true});
for (const old of readdirSync(out)) if (/^web-.*\.png$/.test(old)) rmSync(`${out}/${old}`);
let total = 0;
await page.setViewportSize({width: 1280, height: 760});
const take = async (name, path, colorScheme) => {
  await page.emulateMedia({colorScheme, reducedMotion: 'reduce'});
  await page.goto(path);
  await page.getByRole('heading', {level: 1}).waitFor();
  await page.getByText('Live', {exact: true}).waitFor({state: 'attached'});
  await page.waitForFunction(() => !document.querySelector('.loading') && !document.body.textContent.includes('Waiting for the agents'));
  const named = {edit: 'Diagnostics', difference: 'Requests that are treated otherwise', history: 'What this change did'}[name];
  if (named) await page.getByRole('region', {name: named, exact: true}).first().waitFor();
  if (name === 'edit') await page.getByText('The compiler finds nothing to object to.').waitFor();
  if (name === 'explain') await page.getByRole('region', {name: 'Matching rule'}).waitFor();
  // The graph and what stands below it.
  if (name === 'sites') await page.getByRole('region', {name: 'Tunnels between sites', exact: true}).first().evaluate((region) => region.scrollIntoView());
  // Two polls of the agents.
  if (['overview', 'traffic', 'topology'].includes(name)) await new Promise((resolve) => setTimeout(resolve, 4_500));
  const file = `${out}/web-${name}-${colorScheme}.png`;
  writeFileSync(file, smallPng(await page.screenshot()));
  total += statSync(file).size;
};
const {overview, ...others} = pages;
for (const colorScheme of ['light', 'dark']) {
  for (const [name, path] of Object.entries(others)) await take(name, path, colorScheme);
}
// Sites whose agents are not there would fill the list of what needs attention.
const declared = `${folder}/config/shop.yaml`;
writeFileSync(declared, readFileSync(declared, 'utf8').split('\n---\n').filter((one) => !['Site', 'WANLink', 'WANPolicy'].includes(JSON.parse(one).kind)).join('\n---\n'));
for (const colorScheme of ['light', 'dark']) await take('overview', overview, colorScheme);
await end();
shop.stop();
rmSync(folder, {recursive: true, force: true});
assert.ok(total <= kMost, `the pictures have ${total} bytes, more than ${kMost}`);
console.log(`${Object.keys(pages).length * 2} pictures, ${total} bytes`);
process.exit(0);
