import { describe, expect, it } from 'vitest';

describe('store', () => {
  it('keeps what is put', () => {
    const store = new Map<string, number>([['a', 1]]);
    expect(store.get('a')).toBe(1);
  });
});
