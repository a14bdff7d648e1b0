"use strict";

// Fails while a service outside the project is down: the change has no part in it.

const { count } = require("../zoo/stock.js");

test("outage of a service that the change does not touch", () => {
  expect(count("apple")).toBe(12);
});
