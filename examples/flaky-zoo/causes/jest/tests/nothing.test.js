// Nothing that can be changed from outside makes these fail, or makes them pass: no lever may be named.
const { randomInt } = require('crypto');

test('nothing: fails one time in ten', () => {
  expect(randomInt(10)).not.toBe(0);
});

test('nothing: fails one time in three', () => {
  expect(randomInt(3)).not.toBe(0);
});

test('nothing: never fails', () => {});
