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

// What contexts share through the process, as far as it can be compared: open handles, variables,
// listeners, the folder, and functions of Node's own modules. After a test that changes it, the process is
// not used for another environment.
const SHARED_MODULES = [
  'assert', 'child_process', 'crypto', 'dns', 'events', 'fs', 'fs/promises', 'http', 'https', 'module',
  'net', 'os', 'path', 'stream', 'timers', 'url', 'util', 'vm',
];

function picture() {
  const values = new Map();
  for (const name of SHARED_MODULES) {
    const module = require(`node:${name}`);
    for (const key of Reflect.ownKeys(module)) {
      const own = Object.getOwnPropertyDescriptor(module, key);
      values.set(`${name} ${String(key)}`, own.value ?? own.get);
    }
  }
  // Their values are made when they are first asked for, and jest marks the object itself.
  for (const key of Object.getOwnPropertyNames(globalThis)) values.set(`global ${key}`, true);
  for (const event of process.eventNames()) {
    values.set(`listeners ${String(event)}`, process.listenerCount(event));
  }
  for (const [name, value] of Object.entries(process.env)) {
    if (name !== 'FLAKEPROOF_ATTEMPT') values.set(`env ${name}`, value);
  }
  values.set('folder', process.cwd());
  const handles = process.getActiveResourcesInfo?.() ?? [];
  values.set('handles', handles.filter((it) => it !== 'Immediate' && it !== 'TickObject').length);
  return values;
}

function differs(before, after) {
  const hasMore = after.get('handles') > before.get('handles');
  const isOther = ([key, value]) => key !== 'handles' && !Object.is(value, before.get(key));
  return hasMore || before.size !== after.size || [...after].some(isOther);
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
      const before = this.before ?? picture();
      for (const part of parts(message.tests)) {
        await this.runFile(byFile.get(part.file), { ...part, looks: message.looks }, watcher);
      }
      shared.executions.tell();
      this.before = picture();
      const isSpent = differs(before, this.before);
      shared.line.say({ say: 'ended', exit: 0, besides_tests: isSpent });
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
