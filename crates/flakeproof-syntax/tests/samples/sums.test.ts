import { it, describe } from 'vitest';
function helper() { return 1 }
const h2 = async (a: number) => { helper() };
describe('outer', () => {
  beforeEach(async () => { h2() });
  it.each([1,2])('adds %i', (n) => { expect(n) });
  test.each`a|b
  ${1}|${2}`("x $a", () => {});
  it(`tpl ${x}`, function () {});
  it.only(name + 'x', () => {});
  it.todo('later');
  test.describe("inner", () => { test("deep", async ({page}) => {}) })
});
for (const x of [1]) { it('loop', () => {}) }
Deno.test({ name: "n", fn() {} });
Deno.test(function named() {});
export const q = function() {};
describe.each([1])('d %s', () => { if (a) { it('cond', () => {}, 100) } });
it('opts', { timeout: 1 }, () => {});
it('esc \'q\' \n', done => {});
