"use strict";

const fs = require("node:fs");

/** What tests note about themselves, outside the project. */
exports.note = (what, pid = process.pid) => {
  fs.appendFileSync("../outside/notes", `${what} ${pid}\n`);
};
