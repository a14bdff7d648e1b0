'use strict';

// Loaded before everything else in each process of Node that the user's command starts: the one that
// is the runner writes down how it was started, and ends.
//
// Whatever launches the runner (npx, a script, a wrapper with variables) has done its work by then,
// so that a process started from this record is what the command would have started.

const fs = require('node:fs');
const path = require('node:path');

const RUNNERS = [
  ['mocha', /[/\\]mocha[/\\](bin[/\\]_?mocha(\.js)?|lib[/\\]cli[/\\]cli\.js)$/],
  ['jest', /[/\\]jest(-cli)?[/\\]bin[/\\]jest\.js$/],
  ['vitest', /[/\\]vitest[/\\](vitest\.mjs|dist[/\\]cli\.js)$/],
];

// mocha takes options of Node among its own, and starts another process for them.
function optionsOfNode(runner, script, words) {
  if (runner !== 'mocha') return [];
  const cli = path.join(path.dirname(script), path.basename(script) === 'cli.js' ? '.' : '../lib/cli');
  const { loadOptions } = require(path.join(cli, 'options'));
  const { isNodeFlag, unparseNodeFlags } = require(path.join(cli, 'node-flags'));
  const options = loadOptions(words);
  const given = Object.keys(options).filter((name) => isNodeFlag(name));
  const trimmed = (name) => (name !== 'v8-options' ? name.replace(/^v8-/, '') : name);
  const flags = unparseNodeFlags(
    Object.fromEntries(given.map((name) => [trimmed(name), options[name]])),
  );
  return [...(options['node-option'] ?? []).map((option) => `--${option}`), ...flags];
}

// Node itself is the runner of `node --test`. Options about which tests run, and how they are told, are
// not those of the processes that run them.
function ofNode() {
  const own = process.execArgv;
  if (!own.includes('--test')) return undefined;
  const isAboutTests = (option) => /^--(experimental-)?test(-|=|$)|^--watch/.test(option);
  const withValue = /^--test-(name-pattern|skip-pattern|reporter|reporter-destination|concurrency|timeout|shard|isolation)$/;
  const options = own.filter((option, at) => !isAboutTests(option) && !withValue.test(own[at - 1] ?? ''));
  return { runner: 'node:test', options, script: '', words: [] };
}

// One of the programs that we know.
function ofScript() {
  if (process.argv[1] === undefined) return undefined;
  let script;
  try {
    script = fs.realpathSync(process.argv[1]);
  } catch {
    return undefined;
  }
  const found = RUNNERS.find(([, pattern]) => pattern.test(script));
  if (found === undefined) return undefined;
  const [runner] = found;
  const words = process.argv.slice(2);
  const options = [...process.execArgv, ...optionsOfNode(runner, script, words)];
  return { runner, options, script, words };
}

function write() {
  const to = process.env.FLAKEPROOF_CAPTURE;
  const found = to ? ofNode() ?? ofScript() : undefined;
  if (found === undefined) return;
  const variables = { ...process.env };
  const own = `--require ${JSON.stringify(__filename)}`;
  const options = (variables.NODE_OPTIONS ?? '').replace(own, '').trim();
  if (options === '') delete variables.NODE_OPTIONS;
  else variables.NODE_OPTIONS = options;
  delete variables.FLAKEPROOF_CAPTURE;
  const record = { ...found, node: process.execPath, folder: process.cwd(), variables };
  fs.writeFileSync(`${to}.part`, JSON.stringify(record));
  fs.renameSync(`${to}.part`, to);
  process.exit(0);
}

write();
