"use strict";

/** The discount of the day, in percent. */
exports.percent = 0;
exports.reduced = (price) => (price * (100 - exports.percent)) / 100;
