import assert from "node:assert";
import { createRequire } from "node:module";
import { describe, it } from "vitest";

const load = createRequire(import.meta.url);
const customer = load("../zoo/customer.js");

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
