"use strict";

const WIDTH = 20;

/** One line: the name on the left, the price on the right, cut to the paper's width. */
exports.line = (name, price) => {
  const amount = (price / 100).toFixed(2);
  const room = WIDTH - amount.length - 1;
  return `${name.slice(0, room).padEnd(room)} ${amount}`;
};
