"use strict";

const assert = require("node:assert");
const { note } = require("./notes.js");
const { price } = require("./shop.js");

test("touches", () => {
  note("touches");
  assert.strictEqual(price(), 40);
});
