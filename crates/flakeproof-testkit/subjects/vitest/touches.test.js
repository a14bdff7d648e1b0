import assert from "node:assert";
import { test } from "vitest";
import { note } from "./notes.js";
import { price } from "./shop.js";

test("touches", () => {
  note("touches");
  assert.strictEqual(price(), 40);
});
