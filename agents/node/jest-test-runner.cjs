'use strict';

// jest-circus, with the tests of a file put in order before the first of them runs.

const { Console } = require('node:console');
const { failureOf } = require('./line.cjs');
const { arrange } = require('./order.cjs');
const { picture } = require('./picture.cjs');

const shared = globalThis[Symbol.for('flakeproof.jest')];
const RETRY_TIMES = Symbol.for('RETRY_TIMES');

function groupsAround(test) {
  const groups = [];
  for (let group = test.parent; group?.parent; group = group.parent) groups.unshift(group);
  return groups;
}

function declared(block, titles, found) {
  for (const child of block.children) {
    if (child.type === 'describeBlock') {
      declared(child, [...titles, child.name], found);
      continue;
    }
    const id = [...titles, child.name].join(' > ');
    found.set(id, [...(found.get(id) ?? []), child]);
  }
  return found;
}

function rearrange(root, current, positions) {
  const all = declared(root, [], new Map());
  const tests = [];
  for (const { id, position } of current.tests) {
    for (const test of all.get(id) ?? []) {
      const copy = { ...test, errors: [...test.errors], concurrent: false };
      positions.set(copy, position);
      tests.push(copy);
    }
  }
  root.children = [];
  if (root.tests) root.tests = [];
  const inOrder = arrange(root, tests, {
    groupsOf: groupsAround,
    open: (group, block) => {
      const inner = { ...group, parent: block, children: [] };
      if (group.tests) inner.tests = [];
      block.children.push(inner);
      return inner;
    },
    put: (test, block) => {
      test.parent = block;
      block.children.push(test);
      block.tests?.push(test);
    },
  });
  current.left = inOrder.map((test) => positions.get(test));
}

function errorOf(test) {
  const first = test.errors[0];
  const [error, called] = Array.isArray(first) ? first : [first, undefined];
  if (error && typeof error === 'object' && 'message' in error) return error;
  // Something else than an error was thrown; where the test was called tells the place.
  const stack = called && typeof called === 'object' ? called.stack : '';
  return Object.assign(new Error(`thrown: ${String(error)}`), { stack });
}

// jest keeps its own books of the modules of a file.
function* modulesOf(runtime) {
  for (const [file, module] of runtime._moduleRegistry ?? []) yield [file, module.exports];
  for (const [file, module] of runtime._esmoduleRegistry ?? []) {
    if (module?.namespace) yield [file, module.namespace];
  }
}

function pictureOf(config, environment, runtime) {
  return picture({ folder: config.rootDir, modules: modulesOf(runtime), global: environment.global });
}

module.exports = async function run(globalConfig, config, environment, runtime, testPath, send) {
  const { current, executions } = shared;
  const positions = new Map();
  let initial;
  const own = environment.handleTestEvent?.bind(environment);
  const begin = (position) => {
    const attempt = current.tests.find((test) => test.position === position)?.attempt ?? 1;
    for (const process of [environment.global.process, globalThis.process]) {
      if (process?.env) process.env.FLAKEPROOF_ATTEMPT = String(attempt);
    }
    executions.begin(position);
  };
  const heard = {
    run_start(event, state) {
      if (Number(environment.global[RETRY_TIMES]) > 0) shared.line.say({ say: 'retries_off' });
      environment.global[RETRY_TIMES] = 0;
      rearrange(state.rootDescribeBlock, current, positions);
      if (current.looks) initial = pictureOf(config, environment, runtime);
    },
    hook_start(event) {
      // What is set up for the next tests is a part of the first of them.
      if (event.hook.type === 'beforeAll' && current.left?.length > 0) begin(current.left[0]);
    },
    test_start(event) {
      const position = positions.get(event.test);
      current.left = current.left.filter((it) => it !== position);
      current.told.add(position);
      begin(position);
    },
    test_skip: () => executions.end('skipped'),
    test_todo: () => executions.end('skipped', undefined, 'to do'),
    test_done(event) {
      if (event.test.errors.length === 0) executions.end('passed');
      else executions.end('failed', failureOf(errorOf(event.test), 'call'));
    },
  };
  environment.handleTestEvent = async (event, state) => {
    heard[event.name]?.(event, state);
    await own?.(event, state);
  };
  environment.global.console = new Console(process.stdout, process.stderr);
  const circus = shared.circus.default ?? shared.circus;
  const result = await circus(globalConfig, config, environment, runtime, testPath, send);
  if (current.looks && initial !== undefined) {
    shared.line.say({ say: 'state', initial, things: pictureOf(config, environment, runtime) });
  }
  return result;
};
