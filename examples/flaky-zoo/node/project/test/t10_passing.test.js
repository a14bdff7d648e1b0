"use strict";

const assert = require("node:assert");
const { before, describe, it } = require("node:test");

// Tests that pass whatever happens, in the shapes suites have.

describe("passing with a set-up", () => {
  const shelf = [];
  before(() => {
    shelf.push("apple");
  });

  it("shelf holds apples", () => {
    assert.ok(shelf.includes("apple"));
  });

  it("shelf is made once", () => {
    assert.strictEqual(shelf.length, 1);
  });
});

it("passing with output", () => {
  console.log("closed on Sundays");
});

it.skip("skipped", () => {
  throw new Error("never runs");
});
