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

function write() {
  const to = process.env.FLAKEPROOF_CAPTURE;
  if (!to || process.argv[1] === undefined) return;
  let script;
  try {
    script = fs.realpathSync(process.argv[1]);
  } catch {
    return;
  }
  const found = RUNNERS.find(([, pattern]) => pattern.test(script));
  if (found === undefined) return;
  const variables = { ...process.env };
  const own = `--require ${JSON.stringify(__filename)}`;
  const options = (variables.NODE_OPTIONS ?? '').replace(own, '').trim();
  if (options === '') delete variables.NODE_OPTIONS;
  else variables.NODE_OPTIONS = options;
  delete variables.FLAKEPROOF_CAPTURE;
  const words = process.argv.slice(2);
  const record = {
    runner: found[0],
    node: process.execPath,
    options: [...process.execArgv, ...optionsOfNode(found[0], script, words)],
    script,
    words,
    folder: process.cwd(),
    variables,
  };
  fs.writeFileSync(`${to}.part`, JSON.stringify(record));
  fs.renameSync(`${to}.part`, to);
  process.exit(0);
}

write();
