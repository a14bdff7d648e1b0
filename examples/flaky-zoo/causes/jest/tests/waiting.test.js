// Each test expects to be fast, or another process or the machine to be.
const fs = require('fs');
const http = require('http');
const os = require('os');
const path = require('path');
const { Worker } = require('worker_threads');

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test('quota: the answer comes in time', async () => {
  const begin = performance.now();
  await sleep(100);
  expect(performance.now() - begin).toBeLessThan(600);
});

test('quota: timeout too short', async () => {
  const begin = performance.now();
  for (let step = 0; step < 10; step += 1) {
    await sleep(15);
  }
  expect(performance.now() - begin).toBeLessThan(600);
}, 30_000);

test('quota: fixed sleep before a look', async () => {
  let paid = false;
  const payer = new Worker('require("worker_threads").parentPort.postMessage("paid")', { eval: true });
  payer.on('message', () => { paid = true; });
  await sleep(600);
  await payer.terminate();
  expect(paid).toBe(true);
});

test('slow-calls: the report is on the disk in time', () => {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'report-')), 'report');
  const begin = performance.now();
  const report = fs.openSync(file, 'w');
  for (let line = 0; line < 3; line += 1) {
    fs.writeSync(report, 'paid\n');
    fs.fsyncSync(report);
  }
  fs.closeSync(report);
  expect(performance.now() - begin).toBeLessThan(500);
});

test('slow-network: the server answers in time', async () => {
  const server = http.createServer((_, answer) => answer.end('paid'));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const begin = performance.now();
  await new Promise((resolve, reject) => {
    http.get({ port: server.address().port, host: '127.0.0.1', agent: false }, (answer) => {
      answer.on('data', () => {});
      answer.on('end', resolve);
    }).on('error', reject);
  });
  const took = performance.now() - begin;
  await new Promise((resolve) => server.close(resolve));
  expect(took).toBeLessThan(280);
});
