// What the reader does, and what the page's address says, become what is shown.

const panel = part('test');

/** Show another state, and say so in the address. */
function change(next) {
  state = { ...state, ...next };
  history.replaceState(null, '', addressOf({}));
  apply();
}

function apply() {
  part('query').value = state.query;
  part('kind').value = state.kind;
  const standings = new Set(state.standing.split(','));
  for (const tile of document.querySelectorAll('.tile[data-standing]')) {
    tile.setAttribute('aria-pressed', standings.has(STANDINGS[tile.dataset.standing]));
  }
  document.querySelector('.tile[data-new]').setAttribute('aria-pressed', Boolean(state.fresh));
  part('clear').disabled = !isNarrowed();
  drawHeads();
  refresh();
}

function sortBy(key) {
  const was = state.sort.replace(/^-/, '');
  const first = columnOf(key).first < 0 ? `-${key}` : key;
  const turned = state.sort.startsWith('-') ? key : `-${key}`;
  change({ sort: was === key ? turned : first });
}

function openTest() {
  const row = rowOf.get(state.test);
  if (row === undefined) {
    if (state.test)
      part('count').textContent = `There is no test ${visible(state.test, 200)} in this report`;
    if (panel.open) panel.close();
    return;
  }
  const at = found.indexOf(row);
  const step = (by, title, sign) => {
    const next = found[at + by];
    const button = make(
      'button',
      { type: 'button', disabled: at < 0 || next === undefined, 'aria-label': title, title },
      sign,
    );
    button.addEventListener('click', () => {
      location.hash = addressOf({ test: tests.id[next] });
    });
    return button;
  };
  const close = make(
    'button',
    { type: 'button', class: 'close', 'aria-label': 'Close (Escape)', title: 'Close (Escape)' },
    '✕',
  );
  close.addEventListener('click', () => panel.close());
  panel.replaceChildren(
    make(
      'nav',
      { 'aria-label': 'Tests' },
      step(-1, 'Previous test', '↑'),
      step(1, 'Next test', '↓'),
      close,
    ),
    make('div', { class: 'body', tabindex: '-1' }, ...describe(row)),
  );
  if (!panel.open) panel.showModal();
  panel.querySelector('.body').focus();
  panel.querySelector('.body').scrollTop = 0;
}

function followAddress() {
  const next = addressed();
  const sameTable = Object.keys(START).every(
    (name) => name === 'test' || next[name] === state[name],
  );
  state = next;
  if (!sameTable) apply();
  openTest();
}

function listenToTools() {
  part('query').addEventListener('input', () => change({ query: part('query').value }));
  part('kind').addEventListener('change', () => change({ kind: part('kind').value }));
  part('sort').addEventListener('change', () =>
    change({ sort: (columnOf(part('sort').value).first < 0 ? '-' : '') + part('sort').value }),
  );
  const clear = (event) => {
    event.preventDefault();
    change({ query: '', standing: '', kind: '', fresh: '', same: '' });
  };
  part('tools').addEventListener('reset', clear);
  part('tools').addEventListener('submit', (event) => {
    event.preventDefault();
    moveTo(0);
  });
  part('widen').addEventListener('click', clear);
  part('fold').addEventListener('click', () => change({ all: state.all ? '' : '1' }));
}

function listenToTiles() {
  for (const tile of document.querySelectorAll('.tile')) {
    tile.disabled = false;
    tile.addEventListener('click', () => {
      if (tile.dataset.new) return change({ fresh: state.fresh ? '' : '1' });
      const standings = new Set(state.standing.split(',').filter(Boolean));
      const word = STANDINGS[tile.dataset.standing];
      if (!standings.delete(word)) standings.add(word);
      return change({ standing: [...standings].join(',') });
    });
  }
}

function listenToRows() {
  part('rows').addEventListener('click', (event) => {
    const row = event.target.closest('tr');
    if (!row || event.target.closest('a') || String(getSelection())) return;
    current = Number(row.dataset.at);
    row.querySelector('a').focus({ preventScroll: true });
    row.querySelector('a').click();
  });
  part('rows').addEventListener('keydown', (event) => {
    const page = Math.max(1, Math.floor(innerHeight / rowHeight()) - 2);
    const steps = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -found.length,
      End: found.length,
    };
    if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moveTo(Number(event.target.closest('tr').dataset.at) + steps[event.key]);
  });
}

function listenToPanel() {
  panel.addEventListener('close', () => {
    if (!state.test) return;
    state.test = '';
    history.replaceState(null, '', addressOf({}));
  });
  panel.addEventListener('click', (event) => {
    if (event.target === panel) panel.close();
  });
}

function listenToKeys() {
  document.addEventListener('keydown', (event) => {
    const writes = event.target.closest?.('input, select, textarea');
    if (event.key === '/' && !writes && !panel.open) {
      event.preventDefault();
      part('query').focus();
      part('query').select();
    } else if (event.key === 'Escape' && event.target === part('query') && state.query) {
      change({ query: '' });
    } else if (event.key === 'ArrowDown' && event.target === part('query')) {
      event.preventDefault();
      moveTo(0);
    }
  });
}

function listenToThePage() {
  document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    moveTo(current);
  });
  let waits = false;
  const soon = () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      draw();
    });
  };
  addEventListener('scroll', soon, { passive: true });
  addEventListener('resize', soon);
  phone.addEventListener('change', refresh);
  addEventListener('hashchange', followAddress);
}

function listenToTheme() {
  const button = part('theme');
  const root = document.documentElement;
  const say = () => {
    button.textContent = `Theme: ${root.dataset.theme ?? 'system'}`;
  };
  button.addEventListener('click', () => {
    const next = { system: 'light', light: 'dark', dark: 'system' }[root.dataset.theme ?? 'system'];
    if (next === 'system') delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      if (next === 'system') localStorage.removeItem('flakeproof-theme');
      else localStorage.setItem('flakeproof-theme', next);
    } catch {
      /* storage is not allowed: it lasts as long as the page */
    }
    say();
  });
  say();
  button.hidden = false;
}

listenToTheme();
if (tests.id.length) {
  for (const { key, title } of COLUMNS) {
    const button = make(
      'button',
      { type: 'button' },
      title,
      make('span', { class: 'arrow', 'aria-hidden': 'true' }),
    );
    button.addEventListener('click', () => sortBy(key));
    part('heads').append(
      make('th', { role: 'columnheader', scope: 'col', class: key, 'data-key': key }, button),
    );
    part('sort').append(make('option', { value: key }, title));
  }
  const kinds = [...new Set(tests.kind)].filter(Boolean).sort();
  part('kind').append(...kinds.map((kind) => make('option', { value: kind }, kind)));
  drawLegend();
  part('live').hidden = false;
  for (const listen of [
    listenToTools,
    listenToTiles,
    listenToRows,
    listenToPanel,
    listenToKeys,
    listenToThePage,
  ])
    listen();
  state = addressed();
  apply();
  openTest();
}
