const { test } = require('node:test');

suite('view', () => {
  const render = () => <App title="x" />;
  afterEach(() => cleanup());
  test('renders', async () => { await render(); });
  [1, 2].forEach((n) => { test(`n ${n}`, () => { check(n); }); });
  xit("later", function () {});
});

function cleanup() {}
