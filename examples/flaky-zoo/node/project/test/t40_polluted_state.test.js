"use strict";

const assert = require("node:assert");
const { describe, it } = require("node:test");
const settings = require("../zoo/settings.js");

// A test changes a module's variable and leaves it so. In the suite's own order nobody minds.

describe("currency", () => {
  it("victim of the currency", () => {
    assert.strictEqual(settings.show(250), "2.50 EUR");
  });

  it("cleaner puts the currency back", () => {
    settings.currency = "EUR";
  });

  it("polluter switches currency", () => {
    settings.currency = "USD";
    assert.strictEqual(settings.show(250), "2.50 USD");
  });
});
