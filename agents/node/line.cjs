'use strict';

// The line from a process of a runner to flakeproof, and what the tests in it print.
//
// Messages are written at once and in order, because the next thing that a test does may be to end
// the process. They are those of the agent protocol, with a position of the announced order in
// place of a test.

const fs = require('node:fs');
const net = require('node:net');

const MOST_OUTPUT = 256 * 1024;
const MOST_TEXT = 64 * 1024;
const ANSI = /\u001b\[[0-9;]*[A-Za-z]/g;

// What tests may replace is kept before they run.
const { stringify, parse } = JSON;
const now = performance.now.bind(performance);
const writeSync = fs.writeSync.bind(fs);
const pid = process.pid;

// Write all of it, although the descriptor may be one that does not wait.
function writeAll(fd, text) {
  const bytes = Buffer.from(text);
  let at = 0;
  while (at < bytes.length) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

// Connect, and give every request to `take`.
function connect(socketPath, name, take) {
  const socket = net.connect(socketPath);
  const line = { say: () => {}, unref: () => socket.unref(), ref: () => socket.ref() };
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('connect', () => {
    const fd = socket._handle.fd;
    line.say = (message) => writeAll(fd, stringify(message) + '\n');
    line.say({ say: 'hello', name, pid, protocol: 4, runtime: process.version });
  });
  socket.on('data', (piece) => {
    const lines = (rest + piece).split('\n');
    rest = lines.pop();
    lines.forEach((it) => take(parse(it)));
  });
  // Nobody is left to work for.
  socket.on('error', () => process.exit(0));
  socket.on('close', () => process.exit(0));
  return line;
}

// What is printed since the last `take`, as far as it is kept.
function captureOutput() {
  let kept = '';
  const keep = (piece, encoding) => {
    const text = typeof piece === 'string' ? piece : Buffer.from(piece).toString('utf8');
    if (kept.length < MOST_OUTPUT) kept += text.slice(0, MOST_OUTPUT - kept.length);
  };
  for (const stream of [process.stdout, process.stderr]) {
    stream.write = (piece, encoding, done) => {
      keep(piece, encoding);
      const after = typeof encoding === 'function' ? encoding : done;
      if (typeof after === 'function') process.nextTick(after);
      return true;
    };
  }
  return {
    take() {
      const text = kept;
      kept = '';
      return text;
    },
  };
}

function failureOf(error, phase) {
  const isError = error !== null && typeof error === 'object' && 'message' in error;
  const name = isError && error.name ? `${error.name}: ` : '';
  const message = isError ? String(error.message) : String(error);
  const stack = isError && typeof error.stack === 'string' ? error.stack : '';
  const text = stack.includes(message) ? stack : `${name}${message}\n${stack}`;
  const clean = (it) => it.replace(ANSI, '').slice(0, MOST_TEXT);
  const said = clean(message);
  return { phase, message: said.startsWith(name) ? said : name + said, text: clean(text) };
}

// The executions of an announced order. A result is told when the next test begins: what is torn
// down after a test is a part of it.
class Executions {
  constructor(line, output) {
    this.line = line;
    this.output = output;
    this.open = undefined;
  }

  begin(position) {
    if (this.open?.position === position) return;
    this.tell();
    this.output?.take();
    this.open = { position, begin: now(), outcome: undefined, failure: undefined };
    this.line.say({ say: 'begins', test: position });
  }

  // The test's own end; `fail` may still follow.
  end(outcome, failure, note) {
    const open = this.open;
    if (open === undefined) return;
    open.seconds = (now() - open.begin) / 1000;
    if (open.outcome === 'failed' || open.outcome === 'errored') return;
    Object.assign(open, { outcome, failure, note });
  }

  // Something around the open test failed.
  fail(failure) {
    if (this.open === undefined) return false;
    this.end('failed', failure);
    return true;
  }

  tell() {
    const open = this.open;
    if (open === undefined || open.outcome === undefined) return;
    this.open = undefined;
    const seconds = open.seconds ?? 0;
    const output = this.output?.take() ?? '';
    const { position: test, outcome, failure, note } = open;
    this.line.say({ say: 'result', test, outcome, seconds, failure, note, output });
  }

  // A test that did not run.
  untold(position, outcome, failure, note) {
    this.tell();
    this.line.say({ say: 'result', test: position, outcome, seconds: 0, failure, note });
  }
}

module.exports = { ANSI, Executions, captureOutput, connect, failureOf, writeAll };
