"use strict";

const assert = require("node:assert");
const { note } = require("./notes.js");
const { price } = require("./shop.js");

it("touches", () => {
  note("touches");
  assert.strictEqual(price(), 40);
});
