"use strict";

const ROWS = ["apple;0.40", "bread;2.50", "tea;3,20"];

const names = [];

/** All names, parsed once and kept. */
exports.names = () => {
  if (names.length === 0) {
    for (const row of ROWS) {
      const [name, price] = row.split(";");
      if (Number.isNaN(Number(price))) {
        throw new Error(`no price: ${price}`);
      }
      names.push(name);
    }
  }
  return names;
};
