"use strict";

// A test that needs what another one leaves behind, and comes after it.

const customer = require("../zoo/customer.js");

describe("customer", () => {
  test("state-setter logs a customer in", () => {
    customer.logIn("ada");
    expect(customer.greeting()).toBe("Hello, ADA");
  });

  test("brittle needs a customer", () => {
    expect(customer.greeting()).toBe("Hello, ADA");
  });
});
