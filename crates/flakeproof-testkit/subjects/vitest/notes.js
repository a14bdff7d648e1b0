import fs from "node:fs";

/** What tests note about themselves, outside the project. */
export const note = (what, pid = process.pid) => {
  fs.appendFileSync("../outside/notes", `${what} ${pid}\n`);
};
