// What somebody who uses the page waits for, with the processor throttled four times: node page.mjs CHROMIUM URL
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const require = createRequire(pathToFileURL(`${process.cwd()}/tests/web/page.mjs`));
const {chromium} = await import(pathToFileURL(require.resolve('playwright-core')).href).then((all) => all.default ?? all);
const [executablePath, base] = process.argv.slice(2);

const browser = await chromium.launch({executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']});
const page = await (await browser.newContext({viewport: {width: 1280, height: 800}})).newPage();
const protocol = await page.context().newCDPSession(page);
await protocol.send('Emulation.setCPUThrottlingRate', {rate: 4});

/// From the server's answer to what can be used, within the page's own clock.
async function usable(path, name) {
  await page.goto(`${base}${path}`);
  await page.getByRole('heading', {level: 1, name, exact: true}).waitFor();
  return page.evaluate(() => {
    const answered = performance.getEntriesByType('navigation')[0].responseStart;
    const painted = performance.getEntriesByName('first-contentful-paint')[0];
    return (painted?.startTime ?? performance.now()) - answered;
  });
}

const overview = [];
for (let i = 0; i < 5; ++i) overview.push(await usable('/', 'Overview'));
await usable('/objects/proxyroutes', 'ProxyRoute');
await page.getByRole('row').nth(20).waitFor();
const keys = await page.evaluate(async () => {
  const field = document.querySelector('[data-search]');
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
  const times = [];
  let text = '';
  for (const letter of 'route-4321') {
    text += letter;
    const began = performance.now();
    set.call(field, text);
    field.dispatchEvent(new InputEvent('input', {bubbles: true}));
    // Drawn: the frame after the one in which the list was changed.
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    times.push(performance.now() - began);
  }
  return times;
});
await browser.close();
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
console.log(JSON.stringify({
  'page usable after the answer, ms': Math.round(median(overview)),
  'a key in the search of all routes, ms': Math.round(median(keys)),
  'the same, at most, ms': Math.round(Math.max(...keys)),
}));
