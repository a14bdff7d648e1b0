// Has the next child process of a runner started before the runner asks for it.
//
// Most of what a fresh environment costs is a process that loads the runner, and no test has a part in that.
// A child is handed out only where the same program would be started in the same way, so that a test
// meets what it meets in one that starts now.

const childProcess = require('node:child_process');
const { syncBuiltinESMExports } = require('node:module');

const fork = childProcess.fork;

let spare;

const isAlive = (child) => child.exitCode === null && child.signalCode === null && child.connected;

function prepare(way, rest) {
  const child = fork(...rest);
  spare = { way, child };
  // Without a listener, a child that cannot start would end this process.
  child.on('error', () => {});
}

// From now on, each child that runs one of the runner's own programs has a successor that starts with it. Others are
// left alone: a second copy of a server of the project would take its port.
function preforkChildren(isOwn) {
  childProcess.fork = (...rest) => {
    if (!isOwn(String(rest[0]))) return fork(...rest);
    const way = JSON.stringify([process.cwd(), ...rest]);
    const ready = spare?.way === way && isAlive(spare.child) ? spare.child : undefined;
    if (ready === undefined) endSpare();
    spare = undefined;
    const child = ready ?? fork(...rest);
    prepare(way, rest);
    return child;
  };
  syncBuiltinESMExports();
}

function endSpare() {
  spare?.child.kill('SIGKILL');
  spare = undefined;
}

module.exports = { preforkChildren, endSpare };
