'use strict';

// In place of jest's runner: waits for orders, and runs each file of an order by jest's own.

const { failureOf } = require('./line.cjs');

const shared = globalThis[Symbol.for('flakeproof.jest')];

// The parts of an order that stand in one file.
function parts(order) {
  const found = [];
  order.forEach((wanted, position) => {
    const last = found[found.length - 1];
    if (last?.file === wanted.file) last.tests.push({ ...wanted, position });
    else found.push({ file: wanted.file, tests: [{ ...wanted, position }] });
  });
  return found;
}

function textOf(error) {
  return error?.stack || error?.message || String(error);
}

function asFailure(text) {
  return failureOf(Object.assign(new Error(text), { stack: '', name: '' }), 'setup');
}

module.exports = class {
  constructor(globalConfig, context) {
    this.globalConfig = globalConfig;
    this.runner = new shared.Runner(globalConfig, context);
  }

  async runTests(tests, watcher) {
    const byFile = new Map(tests.map((test) => [test.path, test]));
    for (;;) {
      const message = await shared.next();
      if (message.do === 'bye') return;
      if (message.do !== 'run_order') continue;
      for (const part of parts(message.tests)) await this.runFile(byFile.get(part.file), part, watcher);
      shared.executions.tell();
      shared.line.say({ say: 'ended', exit: 0, besides_tests: false });
    }
  }

  async runFile(test, part, watcher) {
    shared.current = { ...part, told: new Set() };
    let trouble;
    if (test === undefined) {
      trouble = `jest does not select ${part.file}`;
    } else {
      const stops = [
        this.runner.on('test-file-failure', ([, error]) => (trouble = textOf(error))),
        this.runner.on('test-file-success', ([, { testExecError: error }]) => {
          if (error) trouble = textOf(error);
        }),
      ];
      await this.runner.runTests([test], watcher, { serial: true });
      stops.forEach((stop) => stop());
    }
    const { told } = shared.current;
    const isUndeclared = trouble === undefined || told.size > 0;
    const why = isUndeclared ? 'its file does not declare it in this process' : trouble;
    const failure = asFailure(why);
    // What fails after the last test of a file is a part of it.
    if (trouble !== undefined && told.size > 0) shared.executions.fail(asFailure(trouble));
    shared.executions.tell();
    for (const { position } of part.tests) {
      if (!told.has(position)) shared.executions.untold(position, 'errored', failure);
    }
    shared.current = undefined;
  }
};
