describe('clock', () => {
  test('ticks', () => {
    expect(new Clock(0).tick().seconds).toBe(1);
  });
});
