// Each test fails because of another test, or of a copy of itself.
const fs = require('fs');
const net = require('net');
const os = require('os');
const path = require('path');

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
let currency = 'USD';

test('a polluter changes the currency', () => {
  currency = 'EUR';
});

test('order: victim pays in dollars', () => {
  expect(currency).toBe('USD');
});

test('beside-itself: fixed port', async () => {
  const server = net.createServer();
  const taken = await new Promise((resolve) => {
    server.on('error', resolve);
    server.listen(18768, '127.0.0.1', () => resolve(null));
  });
  await sleep(500);
  server.close();
  expect(taken).toBeNull();
});

test('beside-itself: fixed temporary folder', async () => {
  const folder = path.join(os.tmpdir(), 'pay-of-the-jest-zoo');
  fs.mkdirSync(folder);
  await sleep(500);
  fs.rmdirSync(folder);
});
