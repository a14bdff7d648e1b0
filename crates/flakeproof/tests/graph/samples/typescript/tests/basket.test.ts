import { Basket } from "../src/basket";

function filled(item: string, count: number): Basket {
  const basket = new Basket(Date.now);
  basket.add(item, count);
  return basket;
}

describe("a basket", () => {
  let started: number;

  beforeEach(() => {
    started = Date.now();
  });

  it("expires in an hour", () => {
    const basket = filled("apple", 3);
    expect(basket.size()).toBe(3);
    expect(basket.expires()).toBeGreaterThan(started);
  });
});
