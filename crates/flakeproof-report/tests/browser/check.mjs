// Looks at one page in headless Chromium: node check.mjs SCENARIO PAGE MODULES CHROMIUM PICTURES
//
// Conditions are waited for, never times. Whatever the scenario, the page may report no error and
// ask for nothing but itself.

import assert from 'node:assert/strict';
import { readFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [scenario, file, modules, executablePath, pictures] = process.argv.slice(2);
const require = createRequire(join(modules, 'here.js'));
const { chromium } = require('playwright-core');
const address = pathToFileURL(file).href;
const WORST = 'tests/test_checkout.py::test_total[EUR]';

const browser = await chromium.launch({ executablePath, chromiumSandbox: false });
const troubles = [];

async function open(options = {}, hash = '') {
  // Without motion: what is measured must not depend on how far a panel has slid in.
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    ...options,
  });
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') troubles.push(message.text());
  });
  page.on('pageerror', (error) => troubles.push(String(error)));
  page.on('dialog', (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== address && !request.url().startsWith('data:'))
      troubles.push(`request: ${request.url()}`);
  });
  await page.goto(address + hash);
  return page;
}

const rows = (page) => page.locator('#rows tr');
const names = (page) => page.locator('#rows th.test > a').allTextContents();
const counted = (page, text) => page.locator('#count', { hasText: text }).waitFor();
const phone = {
  viewport: { width: 360, height: 740 },
  deviceScaleFactor: 2,
  hasTouch: true,
  isMobile: true,
};
const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

const scenarios = {
  async sorts() {
    const page = await open({ viewport: { width: 1280, height: 1600 } });
    const keys = await page
      .locator('#heads th')
      .evaluateAll((heads) => heads.map((head) => head.dataset.key));
    assert.deepEqual(keys, ['test', 'standing', 'rate', 'flips', 'failed', 'cost', 'kind', 'runs']);
    for (const key of keys) {
      const head = page.locator(`#heads th.${key}`);
      const orders = [];
      for (let time = 0; time < 2; time += 1) {
        await head.getByRole('button').click();
        orders.push([await head.getAttribute('aria-sort'), await names(page)]);
        assert.equal(await page.locator('#heads [aria-sort]').count(), 1);
      }
      assert.deepEqual(orders.map(([sort]) => sort).sort(), ['ascending', 'descending'], key);
      assert.deepEqual([...orders[0][1]].sort(), [...orders[1][1]].sort(), key);
      if (key !== 'runs') assert.notDeepEqual(orders[0][1], orders[1][1], key);
    }
    await page.locator('#heads th.cost button').click();
    assert.equal((await names(page))[0], 'test_total[EUR]');
    await page.locator('#heads th.test button').click();
    const ids = await page.evaluate(() =>
      [...document.querySelectorAll('#rows tr')].map(
        (row) =>
          `${row.querySelector('.place').textContent}::${row.querySelector('a').textContent}`,
      ),
    );
    assert.deepEqual(ids, [...ids].sort());
  },

  async filters() {
    const page = await open();
    await counted(page, '302 tests');
    await page.fill('#query', 'BILLING retries');
    await counted(page, 'of 302');
    const some = await page.textContent('#count');
    assert.ok((await names(page)).every((name) => name.includes('test_retries')));
    await page.reload();
    assert.equal(await page.inputValue('#query'), 'BILLING retries');
    assert.equal(await page.textContent('#count'), some);
    await page.fill('#query', 'no such test');
    await page.getByText('No test matches').waitFor();
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await counted(page, '302 tests');
    const tile = page.locator('.tile[data-standing="0"]');
    await tile.click();
    assert.equal(await tile.getAttribute('aria-pressed'), 'true');
    assert.equal(await rows(page).count(), Number(await tile.locator('b').textContent()));
    assert.ok(
      (await rows(page).locator('.standing .badge').allTextContents()).every(
        (word) => word === 'broken',
      ),
    );
    await page.locator('.tile[data-standing="1"]').click();
    assert.match(page.url(), /standing=broken%2Cflaky/);
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.selectOption('#kind', 'victim');
    assert.ok(
      (await rows(page).locator('td.kind').allTextContents()).every((kind) => kind === 'victim'),
    );
    await page.selectOption('#kind', '');
    await page.locator('.tile[data-new]').click();
    assert.equal(await rows(page).locator('.badge.new').count(), await rows(page).count());
  },

  async opens() {
    const page = await open();
    const panel = page.locator('#test');
    await rows(page).getByRole('link', { name: 'test_total[EUR]' }).click();
    await panel.waitFor();
    const text = await panel.innerText();
    for (const words of [
      'Failed 5 of 23 runs on code on which it also passes',
      'Fails after',
      'shop.cart.CURRENCY',
      'flakeproof repro',
      'Passed in a fresh environment'.toLowerCase(),
      'AssertionError',
      'context switches',
      '@payments',
      'com.example.CartTest#totalsInEuro',
      'Into an assertion',
      'Healed by',
      'Entropy',
    ]) {
      assert.ok(text.toLowerCase().includes(words.toLowerCase()), `${words} in\n${text}`);
    }
    assert.equal(await panel.locator('.mark').count(), 24);
    const readout = panel.locator('.readout');
    await panel.locator('.mark').nth(4).hover();
    await readout.filter({ hasText: 'passed when run again; found flaky' }).waitFor();
    assert.match(
      await readout.textContent(),
      /2026-11-11 03:30 UTC .* on fix\/totals · unit \/ linux #4004/,
    );
    await panel.getByRole('button', { name: 'Copy' }).click();
    await panel.getByRole('button', { name: /Copied|Selected/ }).waitFor();
    assert.equal(new URL(page.url()).hash, `#${new URLSearchParams({ test: WORST })}`);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    assert.equal(new URL(page.url()).hash, '');
    await rows(page).filter({ hasText: 'test_ranking' }).locator('.standing').click();
    await panel.getByRole('heading', { name: 'test_ranking' }).waitFor();
    assert.match(await panel.innerText(), /5 failures on code on which it never passed/);
    await panel.getByRole('button', { name: 'Next test' }).click();
    await panel.getByRole('heading', { name: 'test_total[EUR]' }).waitFor();
    await page.goBack();
    await panel.getByRole('heading', { name: 'test_ranking' }).waitFor();
    const deep = await open({}, `#${new URLSearchParams({ test: WORST, sort: '-cost' })}`);
    await deep.locator('#test').getByRole('heading', { name: 'test_total[EUR]' }).waitFor();
    const unknown = await open({}, '#test=nobody&sort=nonsense');
    await counted(unknown, 'There is no test nobody in this report');
  },

  async first() {
    const page = await open({ colorScheme: 'light' });
    const fixes = page.locator('.first li');
    assert.equal(await fixes.count(), 3);
    const broken = await fixes.first().innerText();
    for (const words of ['broken', 'fails since', '4 of 4 runs', 'search:9200 refused'])
      assert.ok(broken.includes(words), `${words} in\n${broken}`);
    const flaky = await fixes.nth(1).innerText();
    for (const words of ['first failed at', 'fails after', '@payments', 'min of CI', 'repro'])
      assert.ok(flaky.includes(words), `${words} in\n${flaky}`);
    const colour = (place) =>
      place.evaluate((element) => getComputedStyle(element).borderTopColor);
    assert.notEqual(await colour(fixes.first()), await colour(fixes.nth(1)));
    assert.equal((await names(page)).slice(0, 2).sort().join(), 'test_facets,test_ranking');
    assert.match(await rows(page).first().innerText(), /search:9200 refused/);
    await page.getByRole('link', { name: '1 other test fails alike' }).click();
    await counted(page, '2 of');
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await fixes.first().getByRole('link', { name: 'test_ranking' }).click();
    await page.locator('#test').getByRole('heading', { name: 'test_ranking' }).waitFor();
    await page.keyboard.press('Escape');
    assert.ok(!(await names(page)).some((name) => name.startsWith('test_field')));
    await page.getByRole('button', { name: 'Show 8 tests that never failed' }).click();
    assert.ok((await names(page)).some((name) => name.startsWith('test_field')));
    await page.reload();
    await page.getByRole('button', { name: 'Fold 8 tests that never failed' }).waitFor();
    assert.match(await page.locator('#legend').innerText(), /failure rate: .* 95 %/);
    await page.getByText('How CI time burnt is counted').click();
    await page.getByText('shared by these tests').waitFor();
  },

  async axis() {
    const page = await open({}, `#${new URLSearchParams({ test: WORST })}`);
    const panel = page.locator('#test');
    const box = (place) => place.evaluate((element) => element.getBoundingClientRect().toJSON());
    const line = await box(panel.locator('.line'));
    const [first, last] = [panel.locator('.mark').first(), panel.locator('.mark').last()];
    assert.ok(Math.abs((await box(first)).left - line.left) < 1, 'the marks begin with the line');
    assert.ok(Math.abs((await box(last)).right - line.right) < 1, 'the marks end with the line');
    const days = await panel.locator('.days span').allTextContents();
    assert.ok(days.length >= 3 && days[0] === '2026-11-10', days.join());
    const places = await Promise.all((await panel.locator('.days span').all()).map(box));
    for (let at = 1; at < places.length; at += 1)
      assert.ok(places[at].left > places[at - 1].right, `the days ${days.join()} overlap`);
  },

  async keyboard() {
    const page = await open({}, '#all=1');
    const focused = () => page.evaluate(() => document.activeElement.closest('tr')?.dataset.at);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
    await page.keyboard.press('Enter');
    assert.equal(await focused(), '0');
    await page.keyboard.press('/');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'query');
    await page.keyboard.type('stock');
    await counted(page, 'of 302');
    await page.keyboard.press('Escape');
    await counted(page, '302 tests');
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), '0');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    assert.equal(await focused(), '1');
    await page.keyboard.press('End');
    assert.equal(await focused(), '301');
    await page.keyboard.press('PageUp');
    assert.ok(Number(await focused()) < 295);
    await page.keyboard.press('Home');
    assert.equal(await focused(), '0');
    assert.equal(await page.locator('#rows a[tabindex="0"]').count(), 1);
    const name = await page.evaluate(() => document.activeElement.textContent);
    await page.keyboard.press('Enter');
    const panel = page.locator('#test');
    await panel.getByRole('heading', { name, level: 2 }).waitFor();
    const strip = panel.getByRole('listbox');
    await strip.focus();
    await page.keyboard.press('Home');
    const first = await panel.locator('.readout').textContent();
    await page.keyboard.press('ArrowRight');
    assert.notEqual(await panel.locator('.readout').textContent(), first);
    assert.equal(await strip.getAttribute('aria-activedescendant'), 'mark-1');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    assert.equal(await focused(), '0');
  },

  async theme() {
    const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await open({ colorScheme: 'light' });
    const dark = await open({ colorScheme: 'dark' });
    const [white, black] = [await ground(light), await ground(dark)];
    assert.notEqual(white, black);
    const button = light.locator('#theme');
    await button.filter({ hasText: 'Theme: system' }).click();
    await button.filter({ hasText: 'Theme: light' }).click();
    await button.filter({ hasText: 'Theme: dark' }).waitFor();
    assert.equal(await ground(light), black);
    // The browser keeps what was chosen behind the page's back, and a reload at once may take it away.
    for (let reloads = 0; reloads < 50; reloads++) {
      await light.reload();
      if ((await button.textContent()) === 'Theme: dark') break;
      await button.click();
      await button.click();
    }
    assert.equal(await ground(light), black);
    await button.click();
    await button.filter({ hasText: 'Theme: system' }).waitFor();
    assert.equal(await ground(light), white);
  },

  async large() {
    const page = await open({}, '#all=1');
    await counted(page, '10,002 tests');
    // Work is counted, not timed: what a step costs must not grow with the number of tests.
    await page.evaluate(() => {
      window.changes = 0;
      new MutationObserver((records) => {
        for (const { addedNodes, removedNodes } of records)
          window.changes += 1 + addedNodes.length + removedNodes.length;
      }).observe(document, { subtree: true, childList: true, attributes: true });
    });
    const most = await page.evaluate(async () => {
      const frame = () =>
        new Promise((done) => {
          requestAnimationFrame(done);
        });
      let most = 0;
      for (let step = 0; step < 60; step += 1) {
        window.changes = 0;
        scrollBy(0, step % 2 ? 900 : document.documentElement.scrollHeight / 40);
        await frame();
        await frame();
        most = Math.max(most, window.changes);
        const count = document.querySelectorAll('#rows tr').length;
        if (count > 60) throw new Error(`${count} rows are in the document`);
        const box = document.querySelector('#rows').getBoundingClientRect();
        if (box.top > innerHeight || box.bottom < 0) throw new Error('the rows are not in view');
      }
      return most;
    });
    assert.ok(most > 0 && most < 300, `one step of scrolling makes ${most} changes`);
    const elements = await page.evaluate(() => document.querySelectorAll('*').length);
    assert.ok(elements < 3000, `${elements} elements are in the document`);
    await page.locator('#rows a').first().focus();
    await page.keyboard.press('End');
    assert.equal(
      await page.evaluate(() => document.activeElement.closest('tr').getAttribute('aria-rowindex')),
      '10003',
    );
    for (const text of ['test_retries_8', 'billing', 'orders expires']) {
      const changes = await page.evaluate(async (query) => {
        window.changes = 0;
        const input = document.querySelector('#query');
        input.value = query;
        input.dispatchEvent(new Event('input'));
        await Promise.resolve();
        return window.changes;
      }, text);
      assert.ok(changes > 0 && changes < 600, `filtering makes ${changes} changes`);
      console.log(`filtering makes ${changes} changes`);
    }
    console.log(`a step makes at most ${most} changes, ${elements} elements`);
  },

  async phone() {
    const page = await open(phone);
    assert.ok(await fits(page), 'the page is too wide');
    assert.ok(await rows(page).first().isVisible());
    await page.selectOption('#sort', 'cost');
    assert.equal((await names(page))[0], 'test_total[EUR]');
    await page.locator('#rows a').first().tap();
    await page.locator('#test').waitFor();
    assert.ok(await fits(page), 'the test is too wide');
    const inside = await page
      .locator('#test .body')
      .evaluate((body) => body.scrollWidth <= body.clientWidth);
    assert.ok(inside, 'the test scrolls sideways');
  },

  async barriers() {
    const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
    const hash = `#${new URLSearchParams({ test: WORST })}`;
    for (const options of [
      { colorScheme: 'light' },
      { colorScheme: 'dark' },
      { ...phone, colorScheme: 'dark' },
    ]) {
      for (const part of ['', hash]) {
        const page = await open({ ...options, reducedMotion: 'reduce' }, part);
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run());
        const serious = violations.filter(
          ({ impact }) => impact === 'serious' || impact === 'critical',
        );
        const told = serious.map(
          ({ id, nodes }) =>
            `${id}: ${nodes
              .slice(0, 3)
              .map((node) => node.html + node.failureSummary)
              .join('\n  ')}`,
        );
        assert.deepEqual(told, [], JSON.stringify([options, part]));
      }
    }
  },

  async hostile() {
    const page = await open();
    assert.ok((await page.title()).startsWith('t.py::</script>'));
    const all = (await names(page)).join('\n');
    assert.ok(all.includes("script><script>alert('id')</script>") && all.includes('⟨U+202E⟩'), all);
    assert.ok(!all.includes('\u202e'));
    assert.ok(await fits(page), 'a long name makes the page too wide');
    for (let at = 0; at < 5; at += 1) {
      await page.locator('#rows th.test > a').nth(at).click();
      await page.locator('#test').waitFor();
      await page.keyboard.press('Escape');
      await page.locator('#test').waitFor({ state: 'hidden' });
    }
    const odd = '%&#test=x';
    const deep = await open({}, `#${new URLSearchParams({ test: odd })}`);
    await deep.getByRole('heading', { name: 'test=x' }).waitFor();
    await open({}, '#test=%E0%A4%A&q=%');
  },

  async plain() {
    const page = await open({ javaScriptEnabled: false });
    await page.getByText('Flaky tests, those that cost most first').waitFor();
    assert.equal(await page.locator('#plain tbody tr').count(), 4);
    assert.ok(await page.locator('#live').isHidden());
    const printed = await open();
    assert.ok(await printed.locator('#plain').isHidden());
    await printed.emulateMedia({ media: 'print' });
    assert.ok(await printed.locator('#plain').isVisible());
    assert.ok(await printed.locator('#live').isHidden());
  },

  async empty() {
    const page = await open();
    await page.getByText('flakeproof ingest').waitFor();
    await page.getByText('No hunt yet').waitFor();
    assert.equal(await page.locator('h1').textContent(), 'Nothing is known yet');
  },

  async screenshots() {
    mkdirSync(pictures, { recursive: true });
    const shot = async (name, options, hash = '') => {
      const page = await open({ reducedMotion: 'reduce', ...options }, hash);
      await rows(page).first().waitFor();
      await page.screenshot({ path: join(pictures, `${name}.png`) });
    };
    const all = await open();
    const id = await all.evaluate(() =>
      JSON.parse(document.querySelector('#data').textContent).tests.id.find((test) =>
        test.endsWith('_0'),
      ),
    );
    const test = `#${new URLSearchParams({ test: id })}`;
    await shot('report-light', { colorScheme: 'light' });
    await shot('report-dark', { colorScheme: 'dark' });
    await shot(
      'report-test',
      { colorScheme: 'light', viewport: { width: 1280, height: 1100 } },
      test,
    );
    await shot('report-phone', { ...phone, colorScheme: 'light', deviceScaleFactor: 1.5 });
    await shot(
      'report-phone-test',
      { ...phone, colorScheme: 'dark', deviceScaleFactor: 1.5 },
      test,
    );
  },
};

try {
  await scenarios[scenario]();
  assert.deepEqual(troubles, []);
} finally {
  await browser.close();
}
