"use strict";

/** Half price on one day of the year. */
exports.apply = (price) => price / 2;
