"use strict";

const { randomInt } = require("node:crypto");

/** A number from 0 to 9, as random as the machine can make it. */
exports.draw = () => randomInt(10);
