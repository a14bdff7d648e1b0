'use strict';

// Runs any order of the tests of node:test, file by file.
//
// `node --test` gives each file a process of its own, and so does this: `node-test-file.cjs` runs the
// tests of one file in their order, and its words are passed on. A process that ends before its last
// test takes this one with it, in the same way.

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { spawn } = require('node:child_process');
const { connect } = require('./line.cjs');

const FILE_PROGRAM = path.join(__dirname, 'node-test-file.cjs');
// What a file leaves open would keep its process for ever, after its last test.
const PATIENCE = 5000;

// The positions of an order that are of one file, in runs.
function byFile(tests) {
  const parts = [];
  tests.forEach((test, position) => {
    const last = parts[parts.length - 1];
    if (last?.file === test.file) last.tests.push({ ...test, position });
    else parts.push({ file: test.file, tests: [{ ...test, position }] });
  });
  return parts;
}

function runFile(part, looks, scratch, line) {
  const order = path.join(scratch, `order-${process.pid}-${part.tests[0].position}.json`);
  fs.writeFileSync(order, JSON.stringify({ ...part, looks }));
  const options = [...process.execArgv, `--test-reporter=${FILE_PROGRAM}`, '--test-reporter-destination=stdout'];
  const child = spawn(process.execPath, [...options, FILE_PROGRAM, part.file], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    env: { ...process.env, FLAKEPROOF_ORDER: order },
  });
  const untold = new Set(part.tests.map(({ position }) => position));
  let rest = '';
  let patience;
  child.stdio[3].setEncoding('utf8');
  child.stdio[3].on('data', (piece) => {
    const lines = (rest + piece).split('\n');
    rest = lines.pop();
    for (const message of lines.map((it) => JSON.parse(it))) {
      if (message.say === 'result') untold.delete(message.test);
      line.say(message);
    }
    if (untold.size === 0) patience ??= setTimeout(() => child.kill('SIGKILL'), PATIENCE);
  });
  return new Promise((ended) => {
    child.on('close', (code, signal) => {
      clearTimeout(patience);
      fs.rmSync(order, { force: true });
      if (untold.size === 0) ended();
      else if (signal === null) process.exit(code);
      else process.kill(process.pid, os.constants.signals[signal]);
    });
  });
}

async function runOrder({ tests, looks }, scratch, line) {
  for (const part of byFile(tests)) await runFile(part, looks, scratch, line);
  line.say({ say: 'ended', exit: 0, besides_tests: false });
}

function start() {
  const { socket, name, scratch } = JSON.parse(process.env.FLAKEPROOF_AGENT);
  delete process.env.FLAKEPROOF_AGENT;
  const line = connect(socket, name, (message) => {
    if (message.do === 'bye') process.exit(0);
    if (message.do === 'run_order') runOrder(message, scratch, line);
  });
}

start();
