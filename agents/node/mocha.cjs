'use strict';

// Runs any order of mocha's tests in one process.
//
// mocha itself reads its options, loads what they require and the files, and runs the tests; this
// only chooses the files and, before the first test, puts the tests in order.

const path = require('node:path');
const { Executions, captureOutput, connect, failureOf } = require('./line.cjs');
const { arrange } = require('./order.cjs');
const { picture, required } = require('./picture.cjs');

// Options that select tests, or that would come between us and a single run of them.
const LEFT_OUT = [
  'watch', 'w', 'parallel', 'p', 'jobs', 'j', 'bail', 'b', 'grep', 'g', 'fgrep', 'f', 'invert', 'i',
  'dry-run', 'dryRun', 'reporter', 'R', 'reporter-option', 'reporter-options', 'reporterOption',
  'reporterOptions', 'O', 'retries', 'sort', 'S', 'spec', 'forbid-pending', 'forbidPending',
  'fail-zero', 'failZero', 'list-files', 'watch-files', 'watch-ignore',
];

// Tests by file and title, in the order in which they are declared; several may share both.
function declared(root) {
  const found = new Map();
  const visit = (suite, titles) => {
    for (const test of suite.tests) {
      const key = JSON.stringify([test.file, [...titles, test.title].join(' > ')]);
      found.set(key, [...(found.get(key) ?? []), test]);
    }
    for (const inner of suite.suites) visit(inner, [...titles, inner.title]);
  };
  visit(root, []);
  return found;
}

function suitesAround(test) {
  const suites = [];
  for (let suite = test.parent; suite && !suite.root; suite = suite.parent) suites.unshift(suite);
  return suites;
}

// A suite like this one, with the same hooks and nothing in it.
function emptied(suite, parent, title) {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(suite)), suite);
  return Object.assign(copy, { parent, title, root: false, tests: [], suites: [] });
}

// A suite for tests that come after inner suites of theirs, which mocha runs last.
function wrapped(suite) {
  const inner = emptied(suite, suite, '');
  for (const hooks of ['_beforeEach', '_beforeAll', '_afterEach', '_afterAll']) inner[hooks] = [];
  inner.isWrapper = true;
  return inner;
}

function put(test, suite) {
  let place = suite;
  if (suite.suites.length > 0) {
    const last = suite.suites[suite.suites.length - 1];
    place = last.isWrapper ? last : wrapped(suite);
    if (place !== last) suite.suites.push(place);
  }
  test.parent = place;
  place.tests.push(test);
}

class OrderReporter {
  constructor(runner) {
    const { order, executions } = OrderReporter.asked;
    this.order = order;
    this.executions = executions;
    this.positions = new Map();
    this.left = [];
    this.hasStarted = false;
    if (runner._opts) runner._opts.cleanReferencesAfterRun = false;
    runner.once('start', () => this.rearrange(runner.suite));
    runner.on('hook', (hook) => this.begins(hook));
    runner.on('test', (test) => this.begin(test));
    runner.on('pass', () => executions.end('passed'));
    runner.on('pending', (test) => this.skip(test));
    runner.on('fail', (test, error) => this.fail(test, error));
    runner.on('suite end', (suite) => this.giveUp(suite));
    runner.once('end', () => this.finish(runner.failures));
  }

  rearrange(root) {
    this.hasStarted = true;
    const all = declared(root);
    const tests = [];
    this.order.forEach((wanted, position) => {
      const found = all.get(JSON.stringify([wanted.file, wanted.id])) ?? [];
      if (found.length === 0) {
        const message = 'its file does not declare it in this process';
        this.executions.untold(position, 'errored', failureOf(new Error(message), 'setup'));
      }
      found.forEach((test) => {
        const copy = test.clone();
        copy.parent = test.parent;
        if (test.retries() > 0) this.hasRetries = true;
        copy.retries(0);
        this.positions.set(copy, position);
        tests.push(copy);
      });
    });
    if (this.hasRetries) OrderReporter.asked.line.say({ say: 'retries_off' });
    root.tests = [];
    root.suites = [];
    this.left = arrange(root, tests, {
      groupsOf: suitesAround,
      open: (suite, block) => {
        const inner = emptied(suite, block, suite.title);
        block.suites.push(inner);
        return inner;
      },
      put,
    });
    if (OrderReporter.asked.looks) this.initial = pictureOfAll();
  }

  begin(test) {
    const position = this.positions.get(test);
    if (position === undefined) return;
    this.left = this.left.filter((it) => it !== test);
    process.env.FLAKEPROOF_ATTEMPT = String(this.order[position].attempt);
    this.executions.begin(position);
  }

  // What is set up for the next tests is a part of the first of them.
  begins(hook) {
    if (!hook.title.startsWith('"before all"') || this.left.length === 0) return;
    const position = this.positions.get(this.left[0]);
    process.env.FLAKEPROOF_ATTEMPT = String(this.order[position].attempt);
    this.executions.begin(position);
  }

  skip(test) {
    this.begin(test);
    this.executions.end('skipped');
  }

  fail(test, error) {
    if (test.type !== 'hook') {
      this.executions.end('failed', failureOf(error, 'call'));
      return;
    }
    const phase = /^"before/.test(test.title) ? 'setup' : 'teardown';
    const failure = failureOf(error, phase);
    failure.message = `${test.title}: ${failure.message}`;
    this.executions.fail(failure);
    this.lastFailure = failure;
  }

  // Tests that mocha does not run because a hook of their suite failed.
  giveUp(suite) {
    const isInside = (test) => {
      for (let at = test.parent; at; at = at.parent) if (at === suite) return true;
      return false;
    };
    for (const test of this.left.filter(isInside)) {
      this.left = this.left.filter((it) => it !== test);
      const failure = this.lastFailure ?? failureOf(new Error('mocha did not run it'), 'setup');
      this.executions.untold(this.positions.get(test), 'failed', failure);
    }
  }

  finish() {
    this.executions.tell();
    const { line, looks } = OrderReporter.asked;
    if (looks) line.say({ say: 'state', initial: this.initial, things: pictureOfAll() });
    line.say({ say: 'ended', exit: 0, besides_tests: false });
  }
}

function pictureOfAll() {
  return picture({ folder: process.cwd(), modules: required(), global: globalThis });
}

// What mocha is to be told in place of what its command line says.
let chosen;

// Load the runner and no test. Its command line reads its options by a function that is asked once.
function loaded(script) {
  const library = path.resolve(path.dirname(script), path.basename(script) === 'cli.js' ? '..' : '../lib');
  const reader = require(path.join(library, 'cli/options'));
  const { loadOptions } = reader;
  reader.loadOptions = (words) => chosen ?? loadOptions(words);
  const { isNodeFlag } = require(path.join(library, 'cli/node-flags'));
  const { main } = require(path.join(library, 'cli/cli'));
  require(path.join(library, 'mocha'));
  const Suite = require(path.join(library, 'suite'));
  return { loadOptions, isNodeFlag, main, Suite };
}

function run({ mocha, words, order, looks, line, output }) {
  const { loadOptions, isNodeFlag, main, Suite } = mocha;
  const options = loadOptions(words);
  const isOurs = (name) => LEFT_OUT.includes(name) || name === 'node-option' || isNodeFlag(name);
  const hasRetries = options.retries > 0;
  for (const name of Object.keys(options)) if (isOurs(name)) delete options[name];
  const files = [...new Set(order.map((wanted) => wanted.file))];
  Object.assign(options, { _: [], spec: files, reporter: __filename, retries: 0, sort: false });
  if (hasRetries) line.say({ say: 'retries_off' });

  const executions = new Executions(line, output);
  OrderReporter.asked = { order, executions, looks, line };
  // Which file is being loaded, should it end the process.
  let loading;
  const emit = Suite.prototype.emit;
  Suite.prototype.emit = function (event, ...rest) {
    if (event === 'pre-require') loading = rest[1];
    if (event === 'post-require') loading = undefined;
    return emit.call(this, event, ...rest);
  };
  process.once('exit', () => {
    if (executions.open !== undefined || loading === undefined) return;
    const said = output.take().trim();
    const error = new Error(`its file cannot be loaded\n${said}`);
    error.stack = '';
    order.forEach((wanted, position) => {
      if (wanted.file === loading) executions.untold(position, 'errored', failureOf(error, 'setup'));
    });
  });
  chosen = options;
  main(words, options);
}

function start() {
  const { socket, name, script, words } = JSON.parse(process.env.FLAKEPROOF_AGENT);
  delete process.env.FLAKEPROOF_AGENT;
  const output = captureOutput();
  process.argv = [process.argv[0], script, ...words];
  // What takes time, before it is known what to run.
  const mocha = loaded(script);
  const line = connect(socket, name, (message) => {
    if (message.do === 'bye') process.exit(0);
    if (message.do !== 'run_order') return;
    line.unref();
    run({ mocha, words, order: message.tests, looks: message.looks, line, output });
  });
}

// mocha loads this file once more, as its reporter.
module.exports = OrderReporter;
if (require.main === module) start();
