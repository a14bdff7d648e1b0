"use strict";

/** What it costs to send a parcel, in cents. */
exports.cost = (grams, country) => {
  let base = country === "home" ? 400 : 900;
  return base + 100 * Math.floor(grams / 1000);
};
