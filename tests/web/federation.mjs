// The page about federation in a real browser, by role and name.
//
//     federation.mjs CHROMIUM URL reads|resolves PLANTED
import assert from 'node:assert/strict';
import {visit} from './visit.mjs';

const [chromium, base, part, planted] = process.argv.slice(2);
const {page, faults, heading, look, query, end} = await visit(chromium, base, planted, {
  // Of the controller there are its pages about the federation alone.
  refused: [400, 404, 409, 501],
});
const region = (name) => page.getByRole('region', {name, exact: true}).first();

try {
  await page.goto('/');
  await page.getByRole('link', {name: 'Federation', exact: true}).click();
  await heading('Federation');
  await region('Clusters').getByText('Synchronized').waitFor();
  await region('Clusters').getByText('3 versions, for 90 s').waitFor();
  await page.getByRole('button', {name: 'ProxyRoute shop/cart'}).click();
  assert.equal(query().get('conflict'), 'ProxyRoute shop/cart');
  // Both contents.
  await region('Wins: this cluster').getByText('/own').waitFor();
  await region('Loses: berlin').getByText('/berlin').waitFor();
  await look('federation');
  const keep = page.getByRole('button', {name: 'Keep the version of berlin', exact: true});
  if (part === 'reads') {
    assert.equal(await keep.count(), 0);
  } else {
    await keep.click();
    await page.getByRole('dialog').getByRole('button', {name: 'Keep the version of berlin', exact: true}).click();
    await page.getByText('ProxyRoute shop/cart: the version of berlin stays.').waitFor();
    await page.getByText('The clusters agree about everything.').waitFor();
  }
  assert.deepEqual(faults, []);
  console.log('done');
} finally {
  await end();
}
