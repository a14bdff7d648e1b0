"use strict";

const fs = require("node:fs");
const path = require("node:path");

const OUTAGE = path.resolve(__dirname, "../../outside/service-is-down");

/** Asks the stock service, which lives outside the project and can be down. */
exports.count = (name) => {
  if (fs.existsSync(OUTAGE)) {
    throw new Error("the stock service does not answer");
  }
  return name === "apple" ? 12 : 0;
};
