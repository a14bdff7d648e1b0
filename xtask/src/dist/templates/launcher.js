#!/usr/bin/env node
// Starts the program that npm installed for this platform. No install script: it works offline and
// with `--ignore-scripts`.
'use strict';

const { spawn } = require('node:child_process');

function isMusl() {
  if (process.platform !== 'linux') return false;
  const report = process.report?.getReport?.();
  return report !== undefined && report.header?.glibcVersionRuntime === undefined;
}

function program() {
  const own = `@flakeproof/${process.platform}-${process.arch}`;
  const name = process.platform === 'win32' ? 'flakeproof.exe' : 'flakeproof';
  const packages = isMusl() ? [`${own}-musl`] : [own, `${own}-musl`];
  for (const it of packages) {
    try {
      return require.resolve(`${it}/bin/${name}`);
    } catch {
      // The next one, or the message below.
    }
  }
  console.error(
    `flakeproof: the package ${packages[0]} is not installed.\n` +
      'next: install again with optional dependencies (without `--omit=optional` or `--no-optional`); where\n' +
      `      there is no such package, ${process.platform} on ${process.arch} is not supported yet.`,
  );
  process.exit(6);
}

const child = spawn(program(), process.argv.slice(2), { stdio: 'inherit' });
// The program decides what a signal means; this one only waits for it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`flakeproof: it cannot be started: ${error.message}`);
  process.exit(6);
});
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
