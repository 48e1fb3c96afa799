// A browser that looks at the dashboard, and what is wrong with what it sees: broken Content-Security-Policy, errors,
// requests to elsewhere, replies with what was planted.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {chromium} from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const kLastReplies = 5000;

/// `others`: origins besides the server's that may be asked (a provider's). `refused`: statuses of replies that are part
/// of what is looked at.
export async function visit(executablePath, base, planted, {others = [], refused = [400, 404, 409]} = {}) {
  const faults = [];
  const replies = [];
  const browser = await chromium.launch({executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']});
  const context = await browser.newContext({viewport: {width: 1280, height: 800}, baseURL: base});
  context.setDefaultTimeout(30_000);
  await context.exposeFunction('brokenPolicy', (what) => faults.push(`policy: ${what}`));
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => window.brokenPolicy(`${event.effectiveDirective} ${event.blockedURI}`));
  });
  const page = await context.newPage();
  // Pages of others are theirs.
  const ours = () => !others.some((other) => page.url().startsWith(`${other}/`));
  page.on('request', (request) => {
    if (![base, ...others].includes(new URL(request.url()).origin) && ours()) faults.push(`foreign request: ${request.url()}`);
  });
  // The browser writes one line for each reply of 400 and above.
  const expected = new RegExp(`status of (${refused.join('|')})`);
  page.on('console', (message) => message.type() === 'error' && !expected.test(message.text()) && ours() && faults.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => ours() && faults.push(`error: ${error.stack}`));
  page.on('response', (response) => {
    if (response.url().endsWith('/api/events')) return;
    replies.push(response.text().then((text) => text.includes(planted) && faults.push(`secret in ${response.url()}`), () => {}));
  });
  return {
    browser, page, faults,
    heading: (name) => page.getByRole('heading', {level: 1, name, exact: true}).waitFor(),
    query: () => new URL(page.url()).searchParams,
    /// What keeps people out, of the page as it is.
    async look(name) {
      await page.evaluate(axe);
      const found = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
      for (const one of found.violations.filter((violation) => ['serious', 'critical'].includes(violation.impact))) {
        faults.push(`axe, ${name}: ${one.id}: ${one.help}: ${one.nodes.map((node) => node.html).join(' ').slice(0, 500)}`);
      }
    },
    async end() {
      // A reply to a page that was left meanwhile may never be told: closing the browser ends the wait for it.
      await Promise.race([Promise.all(replies), new Promise((resolve) => setTimeout(resolve, kLastReplies))]);
      await browser.close();
    },
  };
}
