"use strict";

/** Students pay 5 % less. */
exports.apply = (price) => (price * 95) / 100;
