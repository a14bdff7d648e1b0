"use strict";

const assert = require("node:assert");
const { it } = require("node:test");
const basket = require("../zoo/basket.js");

// Passes before the change and fails after it, because of it.

it("real regression in code", () => {
  assert.strictEqual(basket.total([[40, 3], [250, 1]]), 370);
});
