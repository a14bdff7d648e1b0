'use strict';

// Runs the tests that ORDER names (a JSON list of full titles) in that order, and no others: for the
// plain runs that pairs are confirmed by. It shares nothing with the workers of flakeproof.
//
//     ORDER='["a b", "a c"]' npx mocha --require ./mocha-order.cjs FILES

const Mocha = require(require.resolve('mocha', { paths: [process.cwd()] }));

const wanted = JSON.parse(process.env.ORDER);
const rank = (test) => wanted.indexOf(test.fullTitle());
const first = (suite) =>
  Math.min(...suite.tests.map(rank), ...suite.suites.map(first), Number.POSITIVE_INFINITY);

function keep(suite) {
  suite.tests = suite.tests.filter((test) => rank(test) >= 0).sort((a, b) => rank(a) - rank(b));
  suite.suites.forEach(keep);
  suite.suites = suite.suites
    .filter((inner) => first(inner) !== Number.POSITIVE_INFINITY)
    .sort((a, b) => first(a) - first(b));
}

const { run } = Mocha.prototype;
Mocha.prototype.run = function (...rest) {
  if (!this._lazyLoadFiles && this.files.length > 0) {
    this.loadFiles();
    this.files = [];
  }
  keep(this.suite);
  return run.apply(this, rest);
};
