"use strict";

/** Settings of the shop, shared by everything that is loaded. */
exports.currency = "EUR";
exports.show = (cents) => `${(cents / 100).toFixed(2)} ${exports.currency}`;
