'use strict';

// A reporter for Playwright that writes CTRF, one test at a time.
//
// A test's title is Playwright's own path of titles: project, file, groups, name. With `--list` no test
// runs, and all are told. What goes wrong outside of tests is told in place of a file.

const fs = require('node:fs');
const path = require('node:path');

const ANSI = /\u001b\[[0-9;]*[A-Za-z]/g;

// How a test ended: one that is expected to fail and does has passed.
const STATUS = { expected: 'passed', flaky: 'passed', unexpected: 'failed', skipped: 'skipped' };

function failureOf(error, attachments = []) {
  const clean = (text) => String(text ?? '').replace(ANSI, '');
  const kept = attachments.filter((it) => it.path && fs.existsSync(it.path));
  const named = kept.map((it) => `${it.name}: ${path.relative(process.cwd(), it.path)}`);
  const message = clean(error?.message ?? error?.value ?? 'it failed');
  const trace = [clean(error?.stack) || message, clean(error?.snippet), ...named];
  return { message, trace: trace.filter((text) => text !== '').join('\n') };
}

module.exports = class {
  constructor() {
    this.file = fs.openSync(process.env.FLAKEPROOF_REPORT, 'w');
    this.separator = '';
    this.told = new Set();
    fs.writeSync(this.file, '{"reportFormat":"CTRF","results":{"tool":{"name":"playwright"},"tests":[\n');
  }

  report(result) {
    fs.writeSync(this.file, this.separator + JSON.stringify(result));
    this.separator = ',\n';
  }

  onBegin(config, suite) {
    this.all = suite.allTests();
  }

  tell(test, status, result) {
    this.told.add(test);
    const titles = test.titlePath().filter((title) => title !== '');
    const said = (pieces) => (pieces ?? []).map(String);
    this.report({
      name: titles[titles.length - 1],
      suite: titles.slice(0, -1),
      status,
      duration: result?.duration ?? 0,
      filePath: test.location.file,
      line: test.location.line,
      stdout: said(result?.stdout),
      stderr: said(result?.stderr),
      ...(status === 'failed' ? failureOf(result?.error, result?.attachments) : {}),
      ...(result?.status === 'timedOut' ? { rawStatus: 'timed out' } : {}),
    });
  }

  onTestEnd(test, result) {
    // Only what stopped the run stopped this test.
    if (result.status !== 'interrupted') this.tell(test, STATUS[test.outcome()], result);
  }

  onError(error) {
    const name = error.location?.file ?? 'playwright';
    this.report({ name, filePath: name, status: 'failed', type: 'file', ...failureOf(error) });
  }

  onEnd() {
    const isList = process.argv.includes('--list');
    if (isList) for (const test of this.all ?? []) this.tell(test, 'skipped');
    fs.writeSync(this.file, '\n]}}\n');
    fs.closeSync(this.file);
  }

  printsToStdio() {
    return false;
  }
};
