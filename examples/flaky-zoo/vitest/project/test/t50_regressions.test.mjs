import assert from "node:assert";
import { createRequire } from "node:module";
import { it } from "vitest";

const load = createRequire(import.meta.url);
const basket = load("../zoo/basket.js");

// Passes before the change and fails after it, because of it.

it("real regression in code", () => {
  assert.strictEqual(basket.total([[40, 3], [250, 1]]), 370);
});
