// Each test fails for one thing about its surroundings, in the way that real ones do.
const dns = require('dns');
const fs = require('fs');
const net = require('net');
const os = require('os');
const path = require('path');

test('zone: day of a payment', () => {
  const paid = new Date(1_700_000_000_000);
  expect([paid.getDate(), paid.getHours(), paid.getMinutes()]).toEqual([14, 22, 13]);
});

test('locale: price on a receipt', () => {
  expect((1.5).toLocaleString(undefined, { minimumFractionDigits: 2 })).toBe('1.50');
});

test('clock: certificate is valid', () => {
  expect(Date.now()).toBeLessThan(Date.UTC(2037, 11, 31));
});

test('clock: tomorrow is in this year', () => {
  const tomorrow = new Date();
  tomorrow.setDate(tomorrow.getDate() + 1);
  expect(tomorrow.getFullYear()).toBe(new Date().getFullYear());
});

test('seed: the drawn customer is not the third', () => {
  expect(Math.floor(Math.random() * 20)).not.toBe(2);
});

test('umask: the report is readable by others', () => {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'rights-')), 'report');
  fs.writeFileSync(file, 'paid');
  expect(fs.statSync(file).mode & 0o004).not.toBe(0);
});

test('ci: uploads nothing', () => {
  expect(process.env.CI).toBeUndefined();
});

test('no-network: talks to itself', async () => {
  const server = net.createServer((client) => client.end('paid'));
  const heard = await new Promise((resolve) => {
    server.on('error', resolve);
    server.listen(0, '127.0.0.1', () => {
      const client = net.connect(server.address().port, '127.0.0.1');
      client.on('error', resolve);
      client.on('data', (data) => resolve(data.toString()));
    });
  });
  server.close();
  expect(heard).toBe('paid');
});

test('no-dns: finds this machine', async () => {
  await expect(dns.promises.lookup('localhost')).resolves.toBeDefined();
});
