"use strict";

// A teardown puts back a value that was not there before.

const discount = require("../zoo/discount.js");

describe("a plain day", () => {
  test("victim of the wrong teardown", () => {
    expect(discount.reduced(1000)).toBe(1000);
  });
});

describe("happy hour", () => {
  afterAll(() => {
    discount.percent = 10;
  });

  test("polluter whose teardown restores the wrong value", () => {
    discount.percent = 20;
    expect(discount.reduced(1000)).toBe(800);
  });
});
