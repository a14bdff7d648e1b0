// Has V8 write what it counted when a worker is ended from outside, as vitest ends its own.

const v8 = require('node:v8');

process.once('SIGTERM', () => {
  v8.takeCoverage();
  process.exit(143);
});
