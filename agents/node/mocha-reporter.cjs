'use strict';

// A reporter for mocha that writes CTRF, one test at a time.
//
// mocha's own reports do not tell the groups around a test apart from its name. A hook that fails is
// the failure of the test it belongs to, and of a file where it belongs to none.

const fs = require('node:fs');
const { inspect } = require('node:util');

const HOOK_OF = /^"(before|after) (each|all)" hook/;

function groupsAround(test) {
  const titles = [];
  for (let suite = test.parent; suite && !suite.root; suite = suite.parent) {
    titles.unshift(suite.title);
  }
  return titles;
}

function failureOf(error) {
  const isError = error !== null && typeof error === 'object' && 'message' in error;
  const text = isError && error.stack ? String(error.stack) : inspect(error);
  const message = isError ? `${error.name ?? 'Error'}: ${error.message}` : String(error);
  return { message, trace: text.includes(String(error?.message ?? '')) ? text : `${message}\n${text}` };
}

module.exports = class {
  constructor(runner, options) {
    const file = fs.openSync(options.reporterOption?.output ?? options.reporterOptions?.output, 'w');
    let separator = '';
    let isOpen = true;
    const write = (text) => isOpen && fs.writeSync(file, text);
    const report = (test, status, more) => {
      const result = {
        name: test.title,
        suite: groupsAround(test),
        status,
        duration: test.duration ?? 0,
        filePath: test.file,
        ...more,
      };
      write(separator + JSON.stringify(result));
      separator = ',\n';
    };
    write('{"reportFormat":"CTRF","results":{"tool":{"name":"mocha"},"tests":[\n');
    runner.on('pass', (test) => report(test, 'passed'));
    runner.on('pending', (test) => report(test, 'skipped'));
    runner.on('fail', (test, error) => {
      const failure = failureOf(error);
      if (!HOOK_OF.test(test.title)) return report(test, 'failed', failure);
      failure.message = `${test.title}: ${failure.message}`;
      // The test that the hook ran for, or the first one that it kept from running.
      const own = test.ctx?.currentTest ?? firstBelow(test.parent);
      if (own) report(own, 'failed', { ...failure, rawStatus: 'hookFailed' });
      else report({ title: test.file ?? test.title, file: test.file }, 'failed', { ...failure, type: 'file' });
    });
    // A process that ends before its first test does has no report.
    process.once('exit', () => isOpen && separator === '' && fs.ftruncateSync(file));
    runner.once('end', () => {
      write('\n]}}\n');
      isOpen = false;
      fs.closeSync(file);
    });
  }
};

function firstBelow(suite) {
  return suite?.tests[0] ?? suite?.suites.map(firstBelow).find((test) => test !== undefined);
}
