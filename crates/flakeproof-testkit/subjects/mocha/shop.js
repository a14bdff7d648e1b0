"use strict";

/** What the test called touches calls. */
exports.price = () => 40;
