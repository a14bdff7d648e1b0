"use strict";

const assert = require("node:assert");
const { after, describe, it } = require("node:test");
const discount = require("../zoo/discount.js");

// A teardown puts back a value that was not there before.

describe("a plain day", () => {
  it("victim of the wrong teardown", () => {
    assert.strictEqual(discount.reduced(1000), 1000);
  });
});

describe("happy hour", () => {
  after(() => {
    discount.percent = 10;
  });

  it("polluter whose teardown restores the wrong value", () => {
    discount.percent = 20;
    assert.strictEqual(discount.reduced(1000), 800);
  });
});
