"use strict";

const assert = require("node:assert");
const { describe, it } = require("node:test");
const customer = require("../zoo/customer.js");

// A test that needs what another one leaves behind, and comes after it.

describe("customer", () => {
  it("state-setter logs a customer in", () => {
    customer.logIn("ada");
    assert.strictEqual(customer.greeting(), "Hello, ADA");
  });

  it("brittle needs a customer", () => {
    assert.strictEqual(customer.greeting(), "Hello, ADA");
  });
});
