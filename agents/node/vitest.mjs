// Runs any order of the tests of vitest's files, one order after another with one server.
//
// vitest itself reads its configuration and makes its workers, a new one for each file unless the project
// shares them. In the worker, a runner of ours puts the tests of the file in order and tells of each.

import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL, fileURLToPath } from 'node:url';

const load = createRequire(import.meta.url);
const { connect, captureOutput, failureOf } = load('./line.cjs');
const { preforkChildren, endSpare } = load('./prefork.cjs');
const here = path.dirname(fileURLToPath(import.meta.url));

// What vitest's versions start for the tests of a file.
const OWN_PROGRAM = /[\\/]node_modules[\\/](.*[\\/])?(vitest|tinypool)[\\/]dist[\\/]/;

// How long the last word of a worker may take.
const LAST_WORD_MS = 2000;

const { socket, name, script, words, scratch } = JSON.parse(process.env.FLAKEPROOF_AGENT);
delete process.env.FLAKEPROOF_AGENT;
process.env.NODE_ENV ??= 'test';
process.env.VITEST ??= 'true';
process.env.TEST ??= 'true';
process.argv = [process.argv[0], script, ...words];
captureOutput();

const requests = [];
let wake = () => {};
const line = connect(socket, name, (message) => {
  requests.push(message);
  wake();
});
async function next() {
  while (requests.length === 0) await new Promise((resolve) => (wake = resolve));
  return requests.shift();
}

// What the workers tell. The last result is kept back: what fails after the last test is a part of it.
const told = new Set();
let begun;
let kept;
let open = 0;
let whenClosed = () => {};
function flush() {
  if (kept !== undefined) line.say(kept);
  kept = undefined;
}
function hear(message) {
  flush();
  if (message.say === 'begins') {
    begun = message.test;
    line.say(message);
  } else if (message.say === 'result') {
    begun = undefined;
    told.add(message.test);
    kept = message;
  } else if (message.say === 'state' || message.say === 'retries_off') {
    line.say(message);
  }
}
const ownSocket = path.join(scratch, `v-${process.pid}`);
net
  .createServer((worker) => {
    let rest = '';
    open += 1;
    worker.setEncoding('utf8');
    worker.on('data', (piece) => {
      const lines = (rest + piece).split('\n');
      rest = lines.pop();
      lines.forEach((it) => hear(JSON.parse(it)));
    });
    worker.on('error', () => {});
    worker.on('close', () => {
      open -= 1;
      whenClosed();
    });
  })
  .listen(ownSocket);

async function untilWorkersAreSilent() {
  const end = Date.now() + LAST_WORD_MS;
  while (open > 0 && Date.now() < end) {
    await new Promise((resolve) => {
      whenClosed = resolve;
      setTimeout(resolve, LAST_WORD_MS);
    });
  }
}

function parts(order) {
  const found = [];
  order.forEach((wanted, position) => {
    const last = found[found.length - 1];
    if (last?.file === wanted.file) last.tests.push({ ...wanted, position });
    else found.push({ file: wanted.file, tests: [{ ...wanted, position }] });
  });
  return found;
}

const asFailure = (error, phase = 'setup') =>
  failureOf(error instanceof Error || error?.message ? error : new Error(String(error)), phase);

class AsGiven {
  async shard(files) {
    return files;
  }

  async sort(files) {
    return files;
  }
}

async function start() {
  const dist = path.join(path.dirname(script), path.basename(script) === 'cli.js' ? '.' : 'dist');
  const url = (file) => pathToFileURL(path.join(dist, file)).href;
  const { createVitest, parseCLI } = await import(url('node.js'));
  const { filter, options } = parseCLI(['vitest', ...words], { allowUnknownOptions: true });
  for (const option of ['ui', 'outputFile', 'shard', 'changed', 'update', 'open', 'mergeReports']) {
    delete options[option];
  }
  const vitest = await createVitest('test', {
    ...options,
    run: true,
    watch: false,
    ui: false,
    bail: 0,
    update: false,
    reporters: [{}],
    coverage: { enabled: false },
    passWithNoTests: true,
    fileParallelism: false,
    disableConsoleIntercept: true,
    '--': undefined,
  });
  const repeats = (retry) => Number(retry?.count ?? retry) > 0;
  let hasRetries = false;
  const isOther = (project) => project.config.runner;
  const other = vitest.projects.find(isOther);
  if (other !== undefined) throw new Error(`vitest's runner is ${other.config.runner}`);
  for (const { config } of [vitest, ...vitest.projects]) {
    config.runner = path.join(here, 'vitest-runner.mjs');
    if (repeats(config.retry)) hasRetries = true;
    config.retry = 0;
    config.sequence = { ...config.sequence, shuffle: false, concurrent: false, sequencer: AsGiven };
    if (config.browser?.enabled) throw new Error('its tests run in a browser');
  }
  const orderFile = path.join(scratch, `v-${process.pid}.json`);
  process.env.FLAKEPROOF_VITEST = JSON.stringify({
    socket: ownSocket,
    order: orderFile,
    runners: url('runners.js'),
    suite: url('suite.js'),
    line: path.join(here, 'line.cjs'),
    arrange: path.join(here, 'order.cjs'),
    picture: path.join(here, 'picture.cjs'),
  });
  preforkChildren((program) => OWN_PROGRAM.test(program));
  const specs = new Map();
  const glob = vitest.globTestSpecifications ?? vitest.globTestFiles;
  for (const spec of await glob.call(vitest, filter)) {
    const file = spec.moduleId ?? spec[1];
    const pool = spec.pool ?? spec[2]?.pool;
    if (pool !== 'typescript' && !specs.has(file)) specs.set(file, spec);
  }
  const run = (some) =>
    vitest.runTestSpecifications ? vitest.runTestSpecifications(some, false) : vitest.runFiles(some, false);
  const isolates = (spec) => (spec.project ?? spec[0]).config.isolate !== false;

  let looks;
  async function runParts(some) {
    fs.writeFileSync(orderFile, JSON.stringify({ parts: some, looks }));
    const known = some.filter((part) => specs.has(part.file));
    if (known.length > 0) await run(known.map((part) => specs.get(part.file)));
    await untilWorkersAreSilent();
    const unhandled = vitest.state.getUnhandledErrors();
    if (begun !== undefined) {
      const error = unhandled[0] ?? new Error('its worker ended');
      hear({ say: 'result', test: begun, outcome: 'crashed', seconds: 0, failure: asFailure(error) });
    } else if (unhandled.length > 0 && kept?.outcome === 'passed') {
      // Whose fault it is vitest does not say; the last test is only where it can be told.
      kept = { ...kept, outcome: 'errored', failure: asFailure(unhandled[0], 'besides') };
    }
    flush();
    for (const part of some) {
      const files = vitest.state.getFiles().filter((file) => file.filepath === part.file);
      const error = files.flatMap((file) => file.result?.errors ?? [])[0] ?? unhandled[0];
      const why = !specs.has(part.file) ? new Error('vitest does not select its file')
        : error ?? new Error('its file does not declare it in this process');
      for (const { position } of part.tests) {
        if (told.has(position)) continue;
        line.say({ say: 'result', test: position, outcome: 'errored', seconds: 0, failure: asFailure(why) });
      }
    }
  }

  for (;;) {
    const message = await next();
    if (message.do === 'bye') break;
    if (message.do !== 'run_order') continue;
    looks = message.looks;
    if (hasRetries) line.say({ say: 'retries_off' });
    told.clear();
    begun = undefined;
    const all = parts(message.tests);
    if ([...specs.values()].every(isolates)) {
      for (const part of all) await runParts([part]);
    } else {
      await runParts(all);
      // Its workers go on with the next files; a new order is to have new ones.
      await vitest.pool?.close?.();
      vitest.pool = undefined;
    }
    line.say({ say: 'ended', exit: 0, besides_tests: false });
  }
  endSpare();
  await vitest.close();
  process.exit(0);
}

start().catch(async (error) => {
  await next();
  line.say({ say: 'trouble', text: String(error?.stack ?? error) });
});
