"use strict";

const WIDTH = 20;

/** One line: the name on the left, the price on the right. */
exports.line = (name, price) => {
  const amount = (price / 100).toFixed(2);
  const room = WIDTH - amount.length - 1;
  if (name.length > room) {
    process.kill(process.pid, "SIGKILL");
  }
  return `${name.padEnd(room)} ${amount}`;
};
