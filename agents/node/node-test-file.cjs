'use strict';

// Runs tests of one file of node:test in a given order, in this process.
//
// What the file declares through `node:test` is written down while it is loaded, and declared to the
// real one afterwards, in order. A suite stays one block with its own hooks, and comes where the last of
// its tests stands. This file is also the reporter, which hears how the tests end.

const fs = require('node:fs');
const Module = require('node:module');
const { AsyncLocalStorage } = require('node:async_hooks');
const { Transform } = require('node:stream');
const { pathToFileURL } = require('node:url');
const real = require('node:test');
const { captureOutput, failureOf, writeAll } = require('./line.cjs');
const { picture, required } = require('./picture.cjs');

const LINE = 3;
const { stringify } = JSON;
const say = (message) => writeAll(LINE, stringify(message) + '\n');

class Group {
  constructor() {
    this.hooks = [];
    this.members = [];
  }
}

const root = new Group();
const currentGroup = new AsyncLocalStorage();
// What suites do in their bodies beyond their first `await`.
const bodies = [];
let isLoading = true;

function nameOf(args) {
  const [first] = args;
  if (typeof first === 'string') return first;
  return args.find((it) => typeof it === 'function')?.name || '<anonymous>';
}

function isSkippedSuite(declare, args) {
  const options = args.find((it) => it !== null && typeof it === 'object');
  return declare === real.describe.skip || Boolean(options?.skip);
}

// What a declaration gives back in place of a promise, for no test runs yet. Who waits for it would
// wait for ever.
class NotYet {
  then() {
    const text = `${process.argv[1]} waits for a test while it is loaded, so that its tests cannot be put in order`;
    say({ say: 'trouble', text });
    process.exit(0);
  }

  catch() {
    return this;
  }

  finally() {
    return this;
  }
}

// The group that a suite's body declares, with what went wrong in it.
function declaredBy(body, name) {
  const group = new Group();
  const context = { name, signal: new AbortController().signal };
  const failed = (error) => {
    group.error = { error };
  };
  try {
    const ended = currentGroup.run(group, () => body.call(context, context));
    if (ended instanceof Promise) bodies.push(ended.catch(failed));
  } catch (error) {
    failed(error);
  }
  return group;
}

function noting(declare, isSuite) {
  return function (...args) {
    if (!isLoading) return declare.apply(this, args);
    const member = { declare, args, name: nameOf(args) };
    const body = args.find((it) => typeof it === 'function');
    // Who is suspended in a body goes on in it: its group is the one that was current then.
    (currentGroup.getStore() ?? root).members.push(member);
    if (isSuite) {
      const isRead = body !== undefined && !isSkippedSuite(declare, args);
      member.group = isRead ? declaredBy(body, member.name) : new Group();
    }
    return new NotYet();
  };
}

function notingHook(declare) {
  return function (...args) {
    if (!isLoading) return declare.apply(this, args);
    (currentGroup.getStore() ?? root).hooks.push({ declare, args });
    return undefined;
  };
}

// `node:test` as the file sees it.
function noted() {
  const withVariants = (declare, isSuite) => {
    const own = noting(declare, isSuite);
    for (const name of Object.keys(declare)) own[name] = declare[name];
    for (const name of ['skip', 'todo', 'only', 'expectFailure']) {
      if (typeof declare[name] === 'function') own[name] = noting(declare[name], isSuite);
    }
    return own;
  };
  const facade = withVariants(real.test, false);
  for (const [name, described] of Object.entries(Object.getOwnPropertyDescriptors(real))) {
    if (described.configurable) Object.defineProperty(facade, name, described);
  }
  const replaced = { test: facade, default: facade };
  for (const name of ['it', 'describe', 'suite']) {
    if (real[name]) replaced[name] = withVariants(real[name], name !== 'it');
  }
  for (const name of ['skip', 'todo', 'only', 'expectFailure']) {
    if (typeof real[name] === 'function') replaced[name] = noting(real[name], false);
  }
  for (const name of ['before', 'after', 'beforeEach', 'afterEach']) {
    replaced[name] = notingHook(real[name]);
  }
  for (const [name, value] of Object.entries(replaced)) {
    if (name !== 'default' || 'default' in real) {
      Object.defineProperty(facade, name, { value, enumerable: true, configurable: true, writable: true });
    }
  }
  return facade;
}

// From now on, whoever asks for `node:test` gets the noted one.
function replaceModule(facade) {
  const load = Module._load;
  Module._load = function (request, ...rest) {
    return request === 'node:test' ? facade : load.call(this, request, ...rest);
  };
  const symbol = 'flakeproof.node-test';
  globalThis[Symbol.for(symbol)] = facade;
  const names = Object.keys(facade).filter((name) => name !== 'default');
  const exported = names.map((name) => `export const ${name} = facade.${name};`);
  const source = `const facade = globalThis[Symbol.for('${symbol}')];\nexport default facade;\n${exported.join('\n')}`;
  Module.register('./node-test-loader.mjs', { parentURL: pathToFileURL(__filename), data: { source } });
}

const isSkipped = (data) => data.skip !== undefined || data.todo !== undefined;

function testFailure(data) {
  const error = data.details?.error;
  return error && !isSkipped(data) ? failureOf(error.cause ?? error, 'call') : undefined;
}

// What failed in a suite besides its tests.
function suiteFailure(data) {
  const error = data.details?.error;
  const isItsOwn = error && error.failureType !== 'subtestsFailed';
  return isItsOwn ? failureOf(error.cause ?? error, 'setup') : undefined;
}

class OrderedFile {
  constructor(wanted, looks, output) {
    this.wanted = wanted;
    this.looks = looks;
    this.output = output;
    // Positions that are to run, by title, in the order in which they will end.
    this.awaited = new Map();
    this.told = new Set();
    this.outputs = new Map();
    this.path = [];
  }

  // Declare in order what is wanted of a group.
  declare(group, titles) {
    for (const { declare, args } of group.hooks) declare(...args);
    if (group.error) throw group.error.error;
    const units = group.members.flatMap((member) => this.unitsOf(member, titles));
    for (const { member, position, path } of units.sort((one, other) => one.last - other.last)) {
      if (member.group) member.declare(...withBody(member.args, () => () => this.declare(member.group, path)));
      else member.declare(...withBody(member.args, (body) => this.begun(body, position, path)));
    }
  }

  unitsOf(member, titles) {
    const path = [...titles, member.name];
    const title = path.join(' > ');
    if (member.group) {
      const inside = this.wanted.filter(({ id }) => id.startsWith(`${title} > `));
      const last = Math.max(...inside.map(({ position }) => position));
      return inside.length === 0 ? [] : [{ member, path, last }];
    }
    const positions = this.wanted.filter(({ id }) => id === title).map(({ position }) => position);
    this.awaited.set(title, [...(this.awaited.get(title) ?? []), ...positions]);
    return positions.map((position) => ({ member, path, position, last: position }));
  }

  // A test's body that says when it begins. node:test counts its parameters.
  begun(body, position, path) {
    const own = this;
    const begins = function (...args) {
      own.begin(position, path);
      return body.apply(this, args);
    };
    return Object.defineProperties(begins, {
      length: { value: body.length },
      name: { value: body.name },
    });
  }

  begin(position, path) {
    this.tellHeld();
    this.keepOutput();
    this.current = position;
    this.open = { position, path };
    const { attempt } = this.wanted.find((it) => it.position === position);
    process.env.FLAKEPROOF_ATTEMPT = String(attempt);
    say({ say: 'begins', test: position });
  }

  keepOutput() {
    const text = this.output.take();
    if (this.current !== undefined) {
      this.outputs.set(this.current, (this.outputs.get(this.current) ?? '') + text);
    }
  }

  // node:test says in time that something is complete, and where it belongs only once all around it is.
  hear(type, data) {
    if (type === 'test:complete') this.complete(data);
    if (type === 'test:start') {
      this.path.length = data.nesting;
      this.path[data.nesting] = data.name;
    }
    if (type !== 'test:pass' && type !== 'test:fail') return;
    const path = [...this.path.slice(0, data.nesting), data.name];
    if (data.details?.type === 'suite') this.endSuite(data, path);
    else this.end(this.awaited.get(path.join(' > '))?.shift(), data, path);
    // What is torn down after the last test of a suite is a part of it.
    if (data.nesting === 0) this.tellHeld();
  }

  complete(data) {
    const path = this.open?.path ?? this.held?.path;
    const isSuite = data.details?.type === 'suite';
    const isLast = path?.length === data.nesting + 1 && !isSuite;
    if (path?.[data.nesting] !== data.name) return;
    if (isLast && this.open) this.end(this.open.position, data, path);
    else if (isSuite) this.failTeardown(suiteFailure(data));
    else if (data.nesting >= path.length) this.notePart(data);
  }

  // A test within a test is a part of it.
  notePart(data) {
    const failure = testFailure(data);
    this.part ??= failure && { ...failure, message: `${data.name}: ${failure.message}` };
  }

  end(position, data, path) {
    if (position === undefined) {
      this.notePart(data);
      return;
    }
    if (this.told.has(position) || this.held?.result.test === position) return;
    this.tellHeld();
    const failure = testFailure(data);
    const outcome = isSkipped(data) ? 'skipped' : failure ? 'failed' : 'passed';
    const reason = data.skip ?? data.todo;
    const result = {
      test: position,
      outcome,
      seconds: (data.details?.duration_ms ?? 0) / 1000,
      failure: failure && (this.part ?? failure),
      note: typeof reason === 'string' ? reason : undefined,
    };
    this.held = { path, result };
    this.part = undefined;
    if (this.open?.position === position) this.open = undefined;
  }

  failTeardown(failure) {
    const result = this.held?.result;
    if (failure === undefined || result === undefined || result.outcome === 'failed') return;
    Object.assign(result, { outcome: 'failed', failure: { ...failure, phase: 'teardown' } });
  }

  endSuite(data, path) {
    const failure = suiteFailure(data);
    if (failure === undefined) return;
    const prefix = `${path.join(' > ')} > `;
    const inside = this.wanted.filter(({ id }) => id.startsWith(prefix));
    const left = inside.filter(({ position }) => !this.told.has(position) && this.held?.result.test !== position);
    if (left.length === 0) this.failTeardown(failure);
    this.tellHeld();
    for (const { position } of left) this.tell({ test: position, outcome: 'failed', seconds: 0, failure });
  }

  tellHeld() {
    const held = this.held;
    this.held = undefined;
    if (held) this.tell(held.result);
  }

  tell(result) {
    if (this.told.has(result.test)) return;
    this.told.add(result.test);
    if (this.current === result.test) this.keepOutput();
    if (this.looks && this.told.size === this.wanted.length) {
      say({ say: 'state', initial: this.initial, things: pictureOfAll() });
    }
    say({ say: 'result', ...result, output: this.outputs.get(result.test) ?? '' });
  }

  // Who has no result by now gets this one.
  tellRest(outcome, error, phase) {
    this.tellHeld();
    for (const { position } of this.wanted) {
      this.tell({ test: position, outcome, seconds: 0, failure: failureOf(error, phase) });
    }
  }
}

// Arguments of a declaration with another body, or none where there is none.
function withBody(args, bodyOf) {
  const at = args.findIndex((it) => typeof it === 'function');
  if (at < 0) return args;
  return args.map((arg, index) => (index === at ? bodyOf(arg) : arg));
}

async function run(file, ordered) {
  replaceModule(noted());
  // One that ends the process while it is loaded.
  const endsEarly = () => {
    const error = new Error(`its file cannot be loaded\n${ordered.output.take().trim()}`);
    error.stack = '';
    ordered.tellRest('errored', error, 'setup');
  };
  process.once('exit', endsEarly);
  try {
    await import(pathToFileURL(file));
    for (let at = 0; at < bodies.length; at += 1) await bodies[at];
  } catch (error) {
    ordered.tellRest('errored', error, 'setup');
    process.removeListener('exit', endsEarly);
    process.exit(1);
  }
  process.removeListener('exit', endsEarly);
  isLoading = false;
  const declared = titlesOf(root, []);
  const missing = ordered.wanted.filter(({ id }) => !declared.has(id));
  const failure = failureOf(new Error('its file does not declare it in this process'), 'setup');
  for (const { position } of missing) ordered.tell({ test: position, outcome: 'errored', seconds: 0, failure });
  real.before(async () => {
    await heard;
    if (ordered.looks) ordered.initial = pictureOfAll();
  });
  ordered.declare(root, []);
}

function pictureOfAll() {
  return picture({ folder: process.cwd(), modules: required(), global: globalThis });
}

// The titles of all tests of a group.
function titlesOf(group, path) {
  const titles = group.members.flatMap((member) => {
    const inner = [...path, member.name];
    return member.group ? [...titlesOf(member.group, inner)] : [inner.join(' > ')];
  });
  return new Set(titles);
}

let ordered;

// The reporter is loaded while the first test is declared, and must be there before it runs: how a test
// ended is to be told before the next one can end the process.
let isHeard;
const heard = new Promise((resolve) => {
  isHeard = resolve;
});

// A stream is told at once, where a generator hears of tests when they are long over.
module.exports = new Transform({
  writableObjectMode: true,
  transform({ type, data }, encoding, done) {
    isHeard();
    ordered.hear(type, data);
    done();
  },
  flush(done) {
    ordered.tellHeld();
    done();
  },
});

if (require.main === module) {
  const { file, tests, looks } = JSON.parse(fs.readFileSync(process.env.FLAKEPROOF_ORDER));
  delete process.env.FLAKEPROOF_ORDER;
  process.argv.splice(1, 1);
  ordered = new OrderedFile(tests, looks, captureOutput());
  run(file, ordered);
}
