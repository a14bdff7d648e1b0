"use strict";

// Pass before the change and fail after it, because of it.

const { total } = require("../zoo/basket.js");
const { bestPrice } = require("../zoo/offers.js");
const { cost } = require("../zoo/shipping.js");

test("real regression in code", () => {
  expect(total([[40, 3], [250, 1]])).toBe(370);
});

test("real regression by added lines only", () => {
  expect(cost(2500, "abroad")).toBe(1100);
});

test("real regression by an added file", () => {
  expect(bestPrice(1000)).toBe(950);
});
