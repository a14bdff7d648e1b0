"use strict";

// A backup job holds the till for a while: three tests fail together, and pass later.

const { startBackup, finishBackup, openTill } = require("../zoo/till.js");

test("backup job starts and takes the till", () => startBackup());

test("bursty till in use when selling", () => {
  expect(openTill()).toBe(8080);
});

test("bursty till in use when refunding", () => {
  expect(openTill()).toBeGreaterThan(0);
});

test("bursty till in use when counting", () => {
  expect(openTill()).not.toBe(80);
});

test("backup job finishes and frees the till", () => finishBackup());
