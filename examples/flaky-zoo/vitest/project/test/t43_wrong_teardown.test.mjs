import assert from "node:assert";
import { createRequire } from "node:module";
import { afterAll, describe, it } from "vitest";

const load = createRequire(import.meta.url);
const discount = load("../zoo/discount.js");

// A teardown puts back a value that was not there before.

describe("a plain day", () => {
  it("victim of the wrong teardown", () => {
    assert.strictEqual(discount.reduced(1000), 1000);
  });
});

describe("happy hour", () => {
  afterAll(() => {
    discount.percent = 10;
  });

  it("polluter whose teardown restores the wrong value", () => {
    discount.percent = 20;
    assert.strictEqual(discount.reduced(1000), 800);
  });
});
