// vitest's runner, with the tests of a file put in order before the first of them runs.

import fs from 'node:fs';
import net from 'node:net';
import { createRequire } from 'node:module';

const asked = JSON.parse(process.env.FLAKEPROOF_VITEST);
const load = createRequire(asked.line);
const { Executions, captureOutput, failureOf, writeAll } = load(asked.line);
const { arrange } = load(asked.arrange);
const { picture } = load(asked.picture);
const { VitestTestRunner } = await import(asked.runners);
const { getFn, getHooks, setFn, setHooks } = await import(asked.suite);

function groupsAround(test) {
  const groups = [];
  for (let group = test.suite; group && group.type === 'suite' && !group.filepath; group = group.suite) {
    groups.unshift(group);
  }
  return groups;
}

function declared(suite, titles, found) {
  for (const task of suite.tasks) {
    if (task.type === 'suite') {
      declared(task, [...titles, task.name], found);
      continue;
    }
    const id = [...titles, task.name].join(' > ');
    found.set(id, [...(found.get(id) ?? []), task]);
  }
  return found;
}

// The modules that vitest has run in this worker, as its versions keep them.
function* evaluated() {
  const worker = globalThis.__vitest_worker__ ?? {};
  const kept = worker.evaluatedModules?.idToModuleMap ?? worker.moduleCache ?? [];
  for (const [file, module] of kept) if (module?.exports) yield [file, module.exports];
}

function copied(task) {
  return Object.defineProperties(
    Object.create(Object.getPrototypeOf(task)),
    Object.getOwnPropertyDescriptors(task),
  );
}

export default class extends VitestTestRunner {
  async onBeforeCollect(...rest) {
    const socket = net.connect(asked.socket);
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    socket.unref();
    const fd = socket._handle.fd;
    const line = { say: (message) => writeAll(fd, JSON.stringify(message) + '\n') };
    this.flakeproof = {
      line,
      socket,
      executions: new Executions(line, captureOutput()),
      positions: new Map(),
      left: [],
      attempts: new Map(),
    };
    await super.onBeforeCollect?.(...rest);
  }

  async onCollected(files) {
    await super.onCollected?.(files);
    const { order } = asked;
    const { parts, looks } = JSON.parse(fs.readFileSync(order, 'utf8'));
    for (const file of files) {
      const part = parts.find((it) => it.file === file.filepath);
      if (part !== undefined) this.rearrange(file, part.tests);
    }
    if (looks) this.flakeproof.initial = this.pictureOfAll();
  }

  pictureOfAll() {
    return picture({
      folder: this.config.root,
      modules: evaluated(),
      global: globalThis,
      callsGetters: true,
      runners: ['Timeout'],
    });
  }

  rearrange(file, wanted) {
    const { positions, attempts, line } = this.flakeproof;
    const all = declared(file, [], new Map());
    const groups = new Map();
    const tests = [];
    for (const { id, position, attempt } of wanted) {
      attempts.set(position, attempt);
      for (const task of all.get(id) ?? []) {
        if (Number(task.retry?.count ?? task.retry) > 0) line.say({ say: 'retries_off' });
        const test = positions.has(task) ? copied(task) : task;
        if (test !== task) setFn(test, getFn(task));
        groups.set(test, groupsAround(task));
        positions.set(test, position);
        tests.push(test);
      }
    }
    const used = new Set();
    file.tasks = [];
    const inOrder = arrange(file, tests, {
      groupsOf: (test) => groups.get(test),
      open: (group, block) => {
        const inner = used.has(group) ? copied(group) : group;
        if (inner !== group) setHooks(inner, getHooks(group));
        used.add(group);
        Object.assign(inner, { tasks: [], suite: block === file ? group.suite : block });
        inner.concurrent = undefined;
        inner.shuffle = undefined;
        block.tasks.push(inner);
        return inner;
      },
      put: (test, block) => {
        if (block !== file) test.suite = block;
        Object.assign(test, { concurrent: undefined, retry: 0, repeats: 0 });
        block.tasks.push(test);
      },
    });
    this.flakeproof.left.push(...inOrder);
  }

  begin(test) {
    const { positions, attempts, executions } = this.flakeproof;
    const position = positions.get(test);
    process.env.FLAKEPROOF_ATTEMPT = String(attempts.get(position) ?? 1);
    executions.begin(position);
  }

  async onBeforeRunSuite(suite) {
    await super.onBeforeRunSuite?.(suite);
    const { left } = this.flakeproof;
    // What is set up for the next tests is a part of the first of them.
    if (suite.mode === 'run' && suite.result?.state !== 'fail' && left.length > 0) this.begin(left[0]);
  }

  async onBeforeRunTask(test) {
    await super.onBeforeRunTask?.(test);
    this.flakeproof.left = this.flakeproof.left.filter((it) => it !== test);
    this.begin(test);
    if (test.mode !== 'run' && test.mode !== 'queued') this.flakeproof.executions.end('skipped');
  }

  async onAfterRunTask(test) {
    await super.onAfterRunTask?.(test);
    const { executions } = this.flakeproof;
    const { state, errors } = test.result ?? {};
    if (state === 'fail') executions.end('failed', failureOf(errors?.[0] ?? 'it failed', 'call'));
    else executions.end(state === 'pass' ? 'passed' : 'skipped');
  }

  async onAfterRunSuite(suite) {
    await super.onAfterRunSuite?.(suite);
    const { executions, positions } = this.flakeproof;
    const error = suite.result?.errors?.[0];
    if (error === undefined) return;
    const failure = failureOf(error, 'setup');
    executions.fail(failure);
    const isInside = (test) => {
      for (let at = test.suite ?? test.file; at; at = at.suite ?? (at === at.file ? undefined : at.file)) {
        if (at === suite) return true;
      }
      return false;
    };
    // Tests that vitest does not run because a hook of their group failed.
    for (const test of this.flakeproof.left.filter(isInside)) {
      this.flakeproof.left = this.flakeproof.left.filter((it) => it !== test);
      if (executions.open?.position === positions.get(test)) executions.tell();
      else executions.untold(positions.get(test), 'failed', failure);
    }
  }

  async onAfterRunFiles(...rest) {
    await super.onAfterRunFiles?.(...rest);
    const { executions, initial, line, socket } = this.flakeproof;
    executions.tell();
    if (initial !== undefined) line.say({ say: 'state', initial, things: this.pictureOfAll() });
    socket.end();
  }
}
