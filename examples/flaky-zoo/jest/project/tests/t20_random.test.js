"use strict";

// Fails by chance, at once and at any time: not bursty.

const { draw } = require("../zoo/lottery.js");

test.each([...Array(8).keys()])("random failure %i", () => {
  if (draw() === 0) {
    throw new Error("one draw in ten is a blank");
  }
});
