"use strict";

const fs = require("node:fs");
const path = require("node:path");

const LOCK = path.resolve(__dirname, "../../outside/till.lock");

/** A backup job takes the till for itself until it is done. */
exports.startBackup = () => fs.writeFileSync(LOCK, "");
exports.finishBackup = () => fs.rmSync(LOCK, { force: true });

/** Use the till; it fails while the backup job has it. */
exports.openTill = () => {
  if (fs.existsSync(LOCK)) {
    throw new Error("the till is in use");
  }
  return 8080;
};
