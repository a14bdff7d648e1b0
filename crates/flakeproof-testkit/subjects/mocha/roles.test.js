"use strict";

const assert = require("node:assert");
const { spawn } = require("node:child_process");
const { note } = require("./notes.js");
const { price } = require("./shop.js");

const state = [];

it("passes", () => note("passes"));

it("fails", () => {
  note("fails");
  price();
  throw new Error("expected 1 but was 2");
});

it.skip("skipped", () => note("skipped"));

it("crashes", () => {
  note("crashes");
  price();
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => setInterval(() => {}, 1000));
}).timeout(3600000);

it("exits", () => {
  note("exits");
  price();
  process.exit(0);
});

it("hangs", () => {
  note("hangs");
  price();
  note("child", spawn("sleep", ["600"]).pid);
  for (;;) {
    // Not even a timer of the framework gets its turn.
  }
});

it("prints", () => {
  note("prints");
  process.stdout.write("said on stdout\n");
  process.stderr.write("said on stderr\n");
});

it("polluter", () => {
  note("polluter");
  state.push("polluted");
});

it("victim", () => {
  note("victim");
  assert.deepStrictEqual(state, []);
});

it("größe of all “odd” names $(exit 1)", () => note("odd_name"));

it("sees variables", () => {
  note("sees_variables");
  const names = ["FLAKEPROOF", "FLAKEPROOF_RUN_ID", "FLAKEPROOF_SEED", "FLAKEPROOF_ATTEMPT"];
  note("variables:" + names.map((name) => process.env[name] ?? "").join(","));
});

describe("counted", () => {
  before(() => note("+class"));
  after(() => note("-class"));
  it("first", () => note("counted_first"));
  it("second", () => note("counted_second"));
});

describe("with a set-up", () => {
  beforeEach(() => {
    throw new Error("no set-up");
  });
  it("errors in setup", () => note("errors_in_setup"));
});

for (const word of ["one", "two words"]) {
  it(`parameter ${word}`, () => note("parameter_" + word.split(" ")[0]));
}
