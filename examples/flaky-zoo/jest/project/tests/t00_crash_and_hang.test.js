"use strict";

// Each of these ends the process it runs in.

test("crash by a signal every time", () => {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => setInterval(() => {}, 1000));
}, 3600000);

test("hang in a loop that never ends", () => {
  for (;;) {
    // Not even the framework's own time limit gets its turn.
  }
});
