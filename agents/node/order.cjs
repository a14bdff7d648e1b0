'use strict';

// Tests in a given order inside of the groups (`describe`) that they are written in.
//
// A group stays one block, as the runner would have it: its hooks run once, before the first and
// after the last of its tests. Blocks are permuted, and tests within a block. Where an order has other
// tests between those of a group, the group comes where the last of its tests stands, so that the last
// test of all is the last.

// Tests with those of one group together.
function together(tests, groupsOf, depth = 0) {
  const units = new Map();
  tests.forEach((test, at) => {
    const group = groupsOf(test)[depth] ?? Symbol('a test of its own');
    const unit = units.get(group) ?? { group, tests: [] };
    unit.tests.push(test);
    unit.last = at;
    units.set(group, unit);
  });
  const inOrder = [...units.values()].sort((one, other) => one.last - other.last);
  const isGroup = ({ group }) => typeof group !== 'symbol';
  return inOrder.flatMap((unit) =>
    isGroup(unit) ? together(unit.tests, groupsOf, depth + 1) : unit.tests,
  );
}

// Build the blocks below `root`, and give the tests as they will run.
//
// `groupsOf` gives the groups around a test, from the outside; `open` makes a block of a group in
// another one and gives it; `put` puts a test into a block.
function arrange(root, tests, { groupsOf, open, put }) {
  const inOrder = together(tests, groupsOf);
  // Asked for before the first test is moved.
  const places = new Map(inOrder.map((test) => [test, groupsOf(test)]));
  const path = [{ group: undefined, block: root }];
  for (const test of inOrder) {
    const groups = places.get(test);
    let depth = 0;
    while (depth < groups.length && path[depth + 1]?.group === groups[depth]) depth += 1;
    path.length = depth + 1;
    for (const group of groups.slice(depth)) {
      path.push({ group, block: open(group, path[path.length - 1].block) });
    }
    put(test, path[path.length - 1].block);
  }
  return inOrder;
}

module.exports = { arrange };
