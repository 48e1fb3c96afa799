// Drives Chromium through a login by its debugging protocol, over a pipe:
//
//   node chromium.mjs CHROMIUM PROFILE URL PICTURE
//
// Prints the page that it ends on, takes a picture of it, and says what a script of that page gets with a session and
// without one.
import {spawn} from 'node:child_process';
import {writeFileSync} from 'node:fs';

const [chromium, profile, url, picture] = process.argv.slice(2);
const browser = spawn(chromium, [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
  '--disable-background-networking', '--ignore-certificate-errors', '--remote-debugging-pipe',
  '--host-resolver-rules=MAP example.com 127.0.0.1', '--window-size=900,500', `--user-data-dir=${profile}`,
], {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});

let last = 0;
let session;
const answers = new Map();
let loaded = () => {};
let rest = Buffer.alloc(0);
browser.stdio[4].on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  for (let end; (end = rest.indexOf(0)) >= 0; rest = rest.subarray(end + 1)) {
    const message = JSON.parse(rest.subarray(0, end).toString());
    if (message.method === 'Page.loadEventFired') loaded();
    const answer = answers.get(message.id);
    answers.delete(message.id);
    if (answer) message.error ? answer.reject(new Error(message.error.message)) : answer.resolve(message.result);
  }
});

function call(method, params = {}) {
  const id = ++last;
  browser.stdio[3].write(JSON.stringify({id, method, params, sessionId: session}) + '\0');
  return new Promise((resolve, reject) => answers.set(id, {resolve, reject}));
}
async function evaluate(expression) {
  const {result} = await call('Runtime.evaluate', {expression, awaitPromise: true, returnByValue: true});
  return result.value;
}
/// Until the next page has come, which `how` sets off.
async function page(how) {
  const came = new Promise((resolve) => { loaded = resolve; });
  await how();
  await came;
}

const {targetId} = await call('Target.createTarget', {url: 'about:blank'});
({sessionId: session} = await call('Target.attachToTarget', {targetId, flatten: true}));
await call('Page.enable');
await page(() => call('Page.navigate', {url}));
const before = await evaluate(`document.querySelector('form') !== null`);
if (!before) throw new Error('no form to log in: ' + await evaluate('document.documentElement.outerHTML'));
await page(() => evaluate(`
  document.querySelector('[name=login]').value = 'alice';
  document.querySelector('[name=password]').value = 'x';
  document.querySelector('form').submit();`));
console.log('url ' + await evaluate('location.href'));
console.log(await evaluate('document.body.innerText'));
const {data} = await call('Page.captureScreenshot');
writeFileSync(picture, Buffer.from(data, 'base64'));
console.log('script ' + await evaluate(`fetch('/api').then((answer) => answer.status)`));
await evaluate(`fetch('/oauth2/logout', {redirect: 'manual'}).then(() => 0)`);
console.log('after-logout ' + await evaluate(`fetch('/api').then((answer) => answer.status)`));
await call('Browser.close').catch(() => {});
process.exit(0);
