"use strict";

// Tests that pass whatever happens, in the shapes suites have.

describe("passing with a set-up", () => {
  const shelf = [];
  beforeAll(() => shelf.push("apple"));

  test("shelf holds apples", () => {
    expect(shelf).toContain("apple");
  });

  test("shelf is made once", () => {
    expect(shelf).toHaveLength(1);
  });
});

test.each([
  [0, "0.00"],
  [5, "0.05"],
])("passing with parameters %i", (cents, shown) => {
  expect((cents / 100).toFixed(2)).toBe(shown);
});

test("passing with output", () => {
  console.log("closed on Sundays");
});

test.skip("skipped", () => {
  throw new Error("never runs");
});
