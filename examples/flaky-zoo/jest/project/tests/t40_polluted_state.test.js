"use strict";

// A test changes a module's variable and leaves it so.

const settings = require("../zoo/settings.js");

test("polluter switches currency", () => {
  settings.currency = "USD";
  expect(settings.show(250)).toBe("2.50 USD");
});

test("victim of the currency", () => {
  expect(settings.show(250)).toBe("2.50 EUR");
});
