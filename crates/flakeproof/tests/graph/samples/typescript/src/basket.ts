export class Basket {
  private items: string[] = [];

  constructor(private readonly now: () => number) {}

  add(item: string, count: number): void {
    for (let i = 0; i < count; i++) {
      this.items.push(item);
    }
  }

  size(): number {
    return this.items.length;
  }

  expires(): number {
    return this.now() + 3_600_000;
  }
}
