// Looks at a server in headless Chromium: node check.mjs SCENARIO ORIGIN TEST TOKEN MODULES CHROMIUM
//
// Conditions are waited for, never times. Whatever the scenario, pages may report no error and ask for
// nothing but what this server has.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [scenario, origin, test, token, modules, executablePath] = process.argv.slice(2);
const { chromium } = createRequire(join(modules, 'here.js'))('playwright-core');
const browser = await chromium.launch({ executablePath, chromiumSandbox: false });
const troubles = [];

async function open(path) {
  const page = await (await browser.newContext({ colorScheme: 'light', reducedMotion: 'reduce' })).newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') troubles.push(message.text());
  });
  page.on('pageerror', (error) => troubles.push(String(error)));
  page.on('dialog', (dialog) => { troubles.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => {
    const url = request.url();
    if (new URL(url).origin !== origin && !url.startsWith('data:')) troubles.push(`request: ${url}`);
  });
  const response = await page.goto(origin + path);
  assert.equal(response.status(), 200);
  return page;
}

const rows = (page) => page.locator('#rows tr');
const name = test.split('::')[1];

const scenarios = {
  async page() {
    const page = await open('/');
    await page.locator('#count', { hasText: '209 tests' }).waitFor();
    await page.locator('#heads th.test button').click();
    const head = page.locator('#heads th.test');
    const sort = await head.getAttribute('aria-sort');
    await head.getByRole('button').click();
    assert.notEqual(await head.getAttribute('aria-sort'), sort);
    await page.fill('#query', 'test_pay');
    await page.locator('#count', { hasText: '1 of 209' }).waitFor();
    assert.equal(await rows(page).count(), 1);
    await rows(page).getByRole('link', { name }).click();
    await page.locator('#test').getByRole('heading', { name }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('#test').waitFor({ state: 'hidden' });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.locator('#theme').click();
    await page.locator('#theme').click();
    await page.locator('#theme', { hasText: 'Theme: dark' }).waitFor();
    assert.notEqual(await ground(), light);
    await page.reload();
    await page.locator('#theme', { hasText: 'Theme: dark' }).waitFor();
  },

  async first() {
    const page = await open('/');
    const fix = page.locator('.first li');
    assert.equal(await fix.count(), 1);
    const asked = await page.context().request.get(`${origin}/api/v1/tests?standing=flaky`);
    const { low, high } = (await asked.json()).tests[0].rate;
    const percent = (share) => `${(share * 100).toFixed(share < 0.0995 ? 1 : 0)} %`;
    const rate = `${percent(low)} to ${percent(high)}`;
    assert.ok((await fix.innerText()).includes(`failed 1 of 4 (${rate})`), await fix.innerText());
    assert.ok((await rows(page).first().innerText()).includes(rate));
    assert.equal(await rows(page).count(), 1);
    await page.getByRole('button', { name: 'Show 208 tests that never failed' }).click();
    await page.locator('#count', { hasText: '209 tests' }).waitFor();
    assert.ok((await rows(page).count()) > 5);
    await fix.getByRole('link').click();
    await page.locator('#test').getByRole('heading', { name }).waitFor();
  },

  async link() {
    const page = await open(`/tests/${encodeURIComponent(test)}`);
    await page.locator('#test').getByRole('heading', { name }).waitFor();
    assert.equal(new URLSearchParams(new URL(page.url()).hash.slice(1)).get('test'), test);
  },

  async api() {
    const page = await open('/api');
    await page.getByRole('heading', { name: 'What can be asked' }).waitFor();
    await page.getByText('Schema').first().click();
    assert.ok(await page.locator('pre').first().isVisible());
    await page.getByRole('link', { name: 'report' }).click();
    await page.locator('#count', { hasText: '209 tests' }).waitFor();
  },

  async token() {
    const page = await open(`/?token=${token}`);
    await page.locator('#count', { hasText: '209 tests' }).waitFor();
    assert.equal(page.url(), `${origin}/`);
    assert.equal(await page.evaluate(() => document.cookie), '');
    assert.equal((await page.goto(`${origin}/api/v1/runs`)).status(), 200);
    const stranger = await (await browser.newContext()).newPage();
    assert.equal((await stranger.goto(origin)).status(), 401);
  },
};

try {
  await scenarios[scenario]();
  assert.deepEqual(troubles, []);
} finally {
  await browser.close();
}
