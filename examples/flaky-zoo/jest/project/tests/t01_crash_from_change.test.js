"use strict";

// A crash in code that the change touches.

const { line } = require("../zoo/receipt.js");

test("real crash that the change introduces", () => {
  expect(line("wholemeal bread, sliced", 250)).toBe("wholemeal bread 2.50");
});
