'use strict';

// Runs any order of the tests of jest's files, one order after another in one process.
//
// jest itself reads its configuration, finds the files and runs its global set-up. Then, in place of
// its own runner, ours waits for orders, and gives each file of an order to jest's runner, which makes a
// new context for it. In the file, the tests are put in order before the first of them runs.

const path = require('node:path');
const { createRequire } = require('node:module');
const { Executions, captureOutput, connect } = require('./line.cjs');

// Options that select tests, or that would come between us and a single run of them.
const LEFT_OUT = [
  'watch', 'watchAll', 'json', 'outputFile', 'onlyChanged', 'o', 'onlyFailures', 'f', 'lastCommit',
  'changedSince', 'shard', 'bail', 'b', 'updateSnapshot', 'u', 'randomize', 'showSeed', 'notify',
  'collectCoverage', 'coverage', 'listTests', 'detectOpenHandles', 'openHandlesTimeout', 'runInBand',
  'i', 'maxWorkers', 'w', 'silent', 'verbose', 'reporters', 'logHeapUsage',
];

function whatStandsInTheWay(configs) {
  for (const config of configs) {
    if (!/[/\\]jest-runner[/\\]/.test(config.runner)) return `jest's runner is ${config.runner}`;
    if (!/[/\\]jest-circus[/\\]/.test(config.testRunner)) {
      return `jest's test runner is ${config.testRunner}`;
    }
  }
  return undefined;
}

async function start() {
  const { socket, name, script, words } = JSON.parse(process.env.FLAKEPROOF_AGENT);
  delete process.env.FLAKEPROOF_AGENT;
  process.env.NODE_ENV ??= 'test';
  process.env.JEST_WORKER_ID = '1';
  process.argv = [process.argv[0], script, ...words];
  const output = captureOutput();

  const orders = [];
  let wake = () => {};
  const line = connect(socket, name, (message) => {
    orders.push(message);
    wake();
  });
  const next = async () => {
    while (orders.length === 0) await new Promise((resolve) => (wake = resolve));
    return orders.shift();
  };

  const ofJest = createRequire(script);
  const ofCli = createRequire(ofJest.resolve('jest-cli'));
  const ofCore = createRequire(ofCli.resolve('@jest/core'));
  const cli = ofJest.resolve('jest-cli');
  // Up to version 29 it is not among what the package gives to others.
  const { buildArgv = ofJest(path.join(path.dirname(cli), 'run.js')).buildArgv } = ofJest(cli);
  const { runCLI } = ofCli('@jest/core');
  const { readConfigs } = ofCore('jest-config');
  const argv = await buildArgv(words);
  for (const option of LEFT_OUT) delete argv[option];
  const projects = argv.projects ?? [argv.rootDir ? path.resolve(argv.rootDir) : process.cwd()];

  const { configs } = await readConfigs({ ...argv }, projects);
  const obstacle = whatStandsInTheWay(configs);
  if (obstacle !== undefined) {
    await next();
    line.say({ say: 'trouble', text: obstacle });
    return;
  }
  const ofConfig = createRequire(ofCore.resolve('jest-config'));
  globalThis[Symbol.for('flakeproof.jest')] = {
    line,
    next,
    executions: new Executions(line, output),
    Runner: ofCore('jest-runner').default,
    circus: ofConfig('jest-circus/runner'),
    current: undefined,
  };
  Object.assign(argv, {
    ci: true,
    watch: false,
    watchAll: false,
    coverage: false,
    collectCoverage: false,
    reporters: [],
    passWithNoTests: true,
    runner: path.join(__dirname, 'jest-runner.cjs'),
    testRunner: path.join(__dirname, 'jest-test-runner.cjs'),
  });
  await runCLI(argv, projects);
  process.exit(0);
}

start().catch((error) => {
  process.exitCode = 1;
  require('node:fs').writeSync(2, `${error?.stack ?? error}\n`);
  process.exit(1);
});
