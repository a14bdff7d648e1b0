"use strict";

// A test that needs what another one leaves behind, and comes before it.

const customer = require("../zoo/customer.js");

test("brittle needs a customer", () => {
  expect(customer.greeting()).toBe("Hello, ADA");
});

test("state-setter logs a customer in", () => {
  customer.logIn("ada");
  expect(customer.greeting()).toBe("Hello, ADA");
});
