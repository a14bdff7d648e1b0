'use strict';

// Tests in a given order inside of the groups (`describe`) that they are written in.
//
// A group stays one block as long as its tests stand together. Where others come between them, it
// is entered again, and its hooks run as they would for a selection of these tests alone: before
// the first and after the last test of each block.

// Build the blocks below `root`.
//
// `tests` are in order; `groupsOf` gives the groups around a test, from the outside; `open` makes a
// block of a group in another one and gives it; `put` puts a test into a block.
function arrange(root, tests, { groupsOf, open, put }) {
  const path = [{ group: undefined, block: root }];
  for (const test of tests) {
    const groups = groupsOf(test);
    let depth = 0;
    while (depth < groups.length && path[depth + 1]?.group === groups[depth]) depth += 1;
    path.length = depth + 1;
    for (const group of groups.slice(depth)) {
      path.push({ group, block: open(group, path[path.length - 1].block) });
    }
    put(test, path[path.length - 1].block);
  }
}

module.exports = { arrange };
