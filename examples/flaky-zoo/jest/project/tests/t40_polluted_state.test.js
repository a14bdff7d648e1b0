"use strict";

// A test changes a module's variable and leaves it so. In the suite's own order nobody minds.

const settings = require("../zoo/settings.js");

describe("currency", () => {
  test("victim of the currency", () => {
    expect(settings.show(250)).toBe("2.50 EUR");
  });

  test("cleaner puts the currency back", () => {
    settings.currency = "EUR";
  });

  test("polluter switches currency", () => {
    settings.currency = "USD";
    expect(settings.show(250)).toBe("2.50 USD");
  });
});
