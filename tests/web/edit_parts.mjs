// Editing, claims and history, by role and name: parts of page.mjs.
import assert from 'node:assert/strict';

export function editParts({page, heading, follow, query, patch, proxied}) {
  const editor = (kind = 'ProxyRoute') => page.getByRole('textbox', {name: `YAML of the ${kind}`});
  const button = (name) => page.getByRole('button', {name, exact: true});
  const region = (name) => page.getByRole('region', {name, exact: true}).first();
  /// Types in place of a word of the draft, as somebody at the keyboard would.
  const retype = async (from, to) => {
    await editor().locator('.cm-line', {hasText: from}).first().click();
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+Home');
    const line = await editor().locator('.cm-line', {hasText: from}).first().innerText();
    await page.keyboard.type(line.trim().replace(from, to));
  };
  /// Puts a text into the editor once it is empty. A browser that puts it in place of another keeps the look of that by
  /// attributes of style, which the policy refuses and reports.
  const write = async (text) => {
    await editor().press('Control+a');
    await page.keyboard.press('Delete');
    await editor().fill(text);
  };
  const compiled = () => page.getByRole('status').filter({hasText: 'Compiling'}).waitFor({state: 'detached'}).catch(() => {});

  return {
    async edit() {
      await page.goto('/objects/proxyroutes/default/cart');
      await heading('cart');
      await page.getByRole('link', {name: 'Edit', exact: true}).click();
      await heading('Edit cart');
      await editor().waitFor();
      await page.getByText('The compiler finds nothing to object to.').waitFor();
      assert.ok(await button('Show what changes').isDisabled());

      // A fault as one types, at its place, and the way to it.
      await retype('/cart', '/basket');
      await retype('matches', 'machtes');
      const diagnostics = page.getByRole('list', {name: 'Diagnostics'});
      await diagnostics.getByText('machtes').first().waitFor();
      assert.ok(await button('Show what changes').isDisabled());
      await diagnostics.getByRole('button', {name: /^Line \d+$/}).first().click();
      assert.ok(await editor().evaluate((field) => field.getRootNode().activeElement === field));
      await retype('machtes', 'matches');
      await page.getByText('The compiler finds nothing to object to.').waitFor();

      // A draft outlives a reload.
      await page.reload();
      await page.getByText('This is a draft that you left.').waitFor();
      await editor().getByText('/basket').waitFor();
      await button('Show what changes').click();
      const changed = region('Requests that are treated otherwise');
      await changed.getByText('404, no rule takes it').first().waitFor();
      await changed.getByRole('link', {name: /GET http:\/\/shop\.example/}).first().waitFor();
      await region('What the change solves for other objects').getByText('ProxyRoute default/late').waitFor();
      await button('Back to the draft').click();
      await editor().waitFor();
      await button('Show what changes').click();
      await changed.waitFor();
      await button('Apply').click();
      await page.getByText('The object was changed.').waitFor();
      await page.getByText('The agent runs it.').waitFor();
      await region('Agents').getByRole('row', {name: /standalone.*Runs it/}).waitFor();
      assert.match(proxied('/basket'), /200/);

      // Who was quicker is heard of, and neither is lost.
      await page.goto('/edit/proxyroutes/default/cart');
      await editor().waitFor();
      patch('cart', {spec: {hostnames: ['shop.example', 'second.example']}});
      await retype('/basket', '/cart');
      await compiled();
      await button('Show what changes').click();
      await button('Apply').click();
      await page.getByText('Somebody else changed the object since you opened it.').waitFor();
      await region('The object as it is now').getByText('second.example').waitFor();
      await button('Keep my draft, and compare it with the object as it is now').click();
      await changed.getByText('second.example').first().waitFor();
      await button('Apply').click();
      await page.getByText('The agent runs it.').waitFor();
    },

    async create() {
      await page.goto('/objects/proxyroutes');
      await page.getByRole('link', {name: 'Create', exact: true}).click();
      await heading('New ProxyRoute');
      await editor().waitFor();
      const head = 'apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata:\n  name: added\n  namespace: default\nspec:\n' +
        '  hostnames: [shop.example]\n  rules:\n  - backendRef: {name: be}\n    matches:\n    - path:\n        value: /added\n';
      // What the schema knows is offered: fields, values, names of objects.
      const offered = (name) => page.getByRole('option', {name}).first();
      await write(`${head}        type: Ex`);
      await page.keyboard.press('Control+End');
      await page.keyboard.press('Control+Space');
      await offered('Exact').click();
      await editor().getByText('type: Exact').waitFor();
      await write(`${head}        type: Exact\n`);
      await page.keyboard.press('Control+End');
      await page.keyboard.type('  par');
      await offered(/^parentRefs/).click();
      await page.keyboard.type('name: g');
      await offered('gw').click();
      await page.getByText('The compiler finds nothing to object to.').waitFor();
      await button('Show what changes').click();
      await region('Requests that are treated otherwise').getByText('default/added').first().waitFor();
      await button('Apply').click();
      await page.getByText('The object was created.').waitFor();
      await page.getByText('The agent runs it.').waitFor();
      assert.match(proxied('/added'), /200/);
      await region('Agents').getByRole('link', {name: 'To the object'}).click();
      await heading('added');

      await page.getByRole('link', {name: 'Delete', exact: true}).click();
      await heading('Delete added');
      await region('Requests that are treated otherwise').getByText('404, no rule takes it').waitFor();
      await button('Delete').click();
      await page.getByText('The object was deleted.').waitFor();
      await page.getByText('The agent runs it.').waitFor();
      await page.goto('/edit/proxyroutes/default/added');
      await page.getByText('The object does not exist').waitFor();
    },

    async claims() {
      await page.goto('/');
      await follow('Claims');
      await heading('Claims');
      const add = async (claim) => {
        await page.getByRole('textbox', {name: 'Add a claim'}).fill(claim);
        await button('Add').click();
      };
      await add('path exact "/cart" implies not backend default/be');
      const own = page.getByRole('list', {name: 'Claims of this browser'});
      await own.getByText('Fails').waitFor();
      await own.getByRole('link', {name: /^GET http:/}).click();
      await heading('Explain a request');
      await region('Matching rule').waitFor();
      await page.goBack();
      await add('host == "nowhere.example" implies status 404');
      await own.getByText('Holds').waitFor();
      await add('nonsense (');
      await own.getByText('Not a claim').waitFor();
      await page.getByRole('button', {name: 'Remove the claim nonsense ('}).click();
      await own.getByText('Not a claim').waitFor({state: 'detached'});
      // They are held against a change.
      await page.goto('/delete/proxyroutes/default/cart');
      await region('Claims').getByText('Unchanged').first().waitFor();
    },

    async history() {
      await page.goto('/edit/proxyroutes/default/preview');
      await editor().waitFor();
      await retype('/cart', '/stage');
      await compiled();
      await button('Show what changes').click();
      await button('Apply').click();
      await page.getByText('The agent runs it.').waitFor();
      await follow('History');
      await heading('History');
      const slider = page.getByRole('slider', {name: 'Program of the history'});
      await slider.waitFor();
      await page.getByRole('row', {name: /preview.*edgectl-web.*Served now/}).waitFor();
      await region('Requests that are treated otherwise').getByText('/stage').first().waitFor();

      // What a request did under yesterday's program.
      await slider.focus();
      await page.keyboard.press('ArrowLeft');
      const old = query().get('program');
      assert.match(old, /^[0-9a-f]{64}$/);
      await page.getByRole('textbox', {name: 'Explain a request under this program'}).fill("curl -H 'x-env: preview' http://shop.example:8080/stage");
      await button('Explain').click();
      await heading('Explain a request');
      await page.getByText(`Under program ${old.slice(0, 12)} of the history`).waitFor();
      await page.getByText('No rule matches: the answer is 404.').waitFor();
      await page.getByRole('link', {name: 'Explain by the configuration as it is now'}).click();
      await region('Matching rule').getByRole('link', {name: 'default/preview'}).waitFor();

      // Compare with what is live, and go back to it.
      await page.goto(`/history?program=${old}`);
      await page.getByRole('combobox').selectOption({label: 'the configuration as it is now'});
      await region('Requests that are treated otherwise').getByText('/stage').first().waitFor();
      await button('Serve this program again').click();
      await region('What requests would see, compared with the program that is served now').getByText('/stage').first().waitFor();
      await button('Roll back').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', {name: 'Roll back'}).click();
      await page.getByText(`${old.slice(0, 12)} is served until the rollback ends.`).waitFor();
      await page.getByText(`A rollback holds agents to ${old.slice(0, 12)}.`).waitFor();
      await button('End the rollback').click();
      await dialog.getByRole('button', {name: 'End the rollback'}).click();
      await page.getByText('The rollback has ended.').waitFor();
    },

    async analysis() {
      await page.goto('/objects/proxyroutes/default/late');
      await heading('late');
      const said = region('What the compiler says');
      await said.getByText('no request reaches this rule').waitFor();
      await page.getByText('No host of the program has rules of this object.').waitFor();
      await said.getByRole('link', {name: /^GET http:/}).first().click();
      await heading('Explain a request');
      await region('Matching rule').getByRole('link', {name: 'default/cart'}).waitFor();
      await page.goto('/objects/proxyroutes/default/preview');
      await region('Cost of a request').getByRole('row', {name: /shop\.example/}).waitFor();
      await page.goto('/objects/proxygateways/default/gw');
      await region('Cost of a request').getByRole('row', {name: /broken\.example/}).waitFor();
      await page.goto('/objects/proxybackends/default/be');
      await heading('be');
      assert.equal(await page.getByRole('region', {name: 'Cost of a request'}).count(), 0);
    },
  };
}
