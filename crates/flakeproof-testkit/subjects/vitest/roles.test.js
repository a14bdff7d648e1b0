import assert from "node:assert";
import { spawn } from "node:child_process";
import { afterAll, beforeAll, beforeEach, describe, test } from "vitest";
import { note } from "./notes.js";
import { price } from "./shop.js";

const state = [];

test("passes", () => note("passes"));

test("fails", () => {
  note("fails");
  price();
  throw new Error("expected 1 but was 2");
});

test.skip("skipped", () => note("skipped"));

test("crashes", () => {
  note("crashes");
  price();
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => setInterval(() => {}, 1000));
}, 3600000);

test("exits", () => {
  note("exits");
  price();
  process.exit(0);
});

test("hangs", () => {
  note("hangs");
  price();
  note("child", spawn("sleep", ["600"]).pid);
  for (;;) {
    // Not even a timer of the framework gets its turn.
  }
});

test("prints", () => {
  note("prints");
  process.stdout.write("said on stdout\n");
  process.stderr.write("said on stderr\n");
});

test("polluter", () => {
  note("polluter");
  state.push("polluted");
});

test("victim", () => {
  note("victim");
  assert.deepStrictEqual(state, []);
});

test("größe of all “odd” names $(exit 1)", () => note("odd_name"));

test("sees variables", () => {
  note("sees_variables");
  const names = ["FLAKEPROOF", "FLAKEPROOF_RUN_ID", "FLAKEPROOF_SEED", "FLAKEPROOF_ATTEMPT"];
  note("variables:" + names.map((name) => process.env[name] ?? "").join(","));
});

describe("counted", () => {
  beforeAll(() => note("+class"));
  afterAll(() => note("-class"));
  test("first", () => note("counted_first"));
  test("second", () => note("counted_second"));
});

describe("with a set-up", () => {
  beforeEach(() => {
    throw new Error("no set-up");
  });
  test("errors in setup", () => note("errors_in_setup"));
});

for (const word of ["one", "two words"]) {
  test(`parameter ${word}`, () => note("parameter_" + word.split(" ")[0]));
}
