// The table of tests. Only the rows in view are in the document, so that ten thousand stay fluid.

const byText = (values) => (one, other) =>
  values[one] < values[other] ? -1 : Number(values[one] > values[other]);
const started = (run) => (run === null ? null : runs.started[run]);

const COLUMNS = [
  { key: 'test', title: 'Test', of: tests.id, first: 1 },
  { key: 'standing', title: 'Standing', of: tests.standing, first: 1 },
  { key: 'rate', title: 'Failure rate, 95 %', of: tests.mean, first: -1 },
  { key: 'flips', title: 'Flips', of: tests.flip, first: -1 },
  { key: 'failed', title: 'Last failed', of: tests.failed, first: -1 },
  { key: 'cost', title: 'Cost', of: tests.cost, first: -1 },
  { key: 'kind', title: 'Kind', of: tests.kind, first: 1 },
  { key: 'runs', title: 'Last 40 runs', of: tests.seen, first: -1 },
];
const columnOf = (key) => COLUMNS.find((column) => column.key === key);

const START = {
  query: '',
  standing: '',
  kind: '',
  fresh: '',
  same: '',
  all: '',
  sort: 'standing',
  test: '',
};
const NAMES = {
  query: 'q',
  standing: 'standing',
  kind: 'kind',
  fresh: 'new',
  same: 'same',
  all: 'all',
  sort: 'sort',
  test: 'test',
};
let state = { ...START };
let found = [];
let folded = 0;
let current = 0;
const lowered = [];
const shown = new Map();
const phone = matchMedia('(max-width: 760px)');
const rowHeight = () => (phone.matches ? 118 : 70);
const part = (id) => document.getElementById(id);

/** The address of this page in a state that differs from the present one by `change`. */
function addressOf(change) {
  const next = { ...state, ...change };
  const words = new URLSearchParams();
  for (const [name, word] of Object.entries(NAMES)) {
    if (next[name] !== START[name]) words.set(word, next[name]);
  }
  return `#${words}`;
}

/** The state that the page's address names; what it does not know is left out. */
function addressed() {
  const words = new URLSearchParams(location.hash.slice(1));
  const next = { ...START };
  for (const [name, word] of Object.entries(NAMES)) next[name] = words.get(word) ?? START[name];
  if (!columnOf(next.sort.replace(/^-/, ''))) next.sort = START.sort;
  return next;
}

function matches(row, words, standings) {
  if (standings.size && !standings.has(STANDINGS[tests.standing[row]])) return false;
  if (state.kind && tests.kind[row] !== state.kind) return false;
  if (state.fresh && !tests.new[row]) return false;
  if (state.same && String(tests.group[row]) !== state.same) return false;
  if (!words.length) return true;
  lowered[row] ??= `${tests.id[row]} ${said(tests.owners[row]) ?? ''} ${said(tests.formerly[row]) ?? ''}`.toLowerCase();
  return words.every((word) => lowered[row].includes(word));
}

/** By the chosen column, what is not known last; then by cost, rate and id. */
function order() {
  const down = state.sort.startsWith('-') ? -1 : 1;
  const { of } = columnOf(state.sort.replace(/^-/, ''));
  const byId = byText(tests.id);
  return (one, other) => {
    const [a, b] = [of[one], of[other]];
    if (a !== b) {
      if (a === null) return 1;
      if (b === null) return -1;
      return a < b ? -down : down;
    }
    return (
      tests.cost[other] - tests.cost[one] ||
      (tests.mean[other] ?? 0) - (tests.mean[one] ?? 0) ||
      byId(one, other)
    );
  };
}

/** Whether something narrows the table, so that what it finds is what was asked for. */
const isNarrowed = () =>
  Boolean(state.query || state.standing || state.kind || state.fresh || state.same);

/** Find and sort anew, and draw what is in view. Tests that never failed wait below the others. */
function refresh() {
  const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
  const standings = new Set(state.standing.split(',').filter(Boolean));
  const folds = !state.all && !isNarrowed();
  found = [];
  folded = 0;
  for (let row = 0; row < tests.id.length; row += 1) {
    if (!matches(row, words, standings)) continue;
    if (folds && tests.standing[row] === STEADY) folded += 1;
    else found.push(row);
  }
  found.sort(order());
  current = 0;
  shown.clear();
  part('rows').replaceChildren();
  const all = found.length === tests.id.length;
  part('count').textContent = all
    ? `${grouped(found.length)} tests`
    : `${grouped(found.length)} of ${grouped(tests.id.length)} tests`;
  part('none').hidden = found.length > 0 || folded > 0;
  drawFold();
  part('tests').hidden = found.length === 0;
  part('tests').setAttribute('aria-rowcount', found.length + 1);
  draw();
}

/** The button that shows the steady tests, or folds them. */
function drawFold() {
  const steady = state.all ? tests.standing.filter((it) => it === STEADY).length : folded;
  const noun = steady === 1 ? 'test that never failed' : 'tests that never failed';
  part('fold').textContent = `${state.all ? 'Fold' : 'Show'} ${grouped(steady)} ${noun}`;
  part('fold').hidden = steady === 0 || isNarrowed();
}

/** The last message of a test, and how many others end with it. */
function lastMessage(row) {
  const message = said(tests.message[row]);
  if (!message) return null;
  const group = tests.group[row];
  const many = group !== null && data.groups[group] > 1;
  const link = many
    ? make(
        'a',
        {
          class: 'alike',
          href: addressOf({ same: `${group}` }),
          tabindex: '-1',
          title: 'Show the tests that fail alike',
        },
        `${grouped(data.groups[group])} alike`,
      )
    : null;
  const text = foreign(message, 'span', { class: 'text', title: visible(message) });
  return make('span', { class: 'message' }, text, link);
}

const cell = (name, ...children) => make('td', { role: 'cell', class: name }, ...children);

/** Since when a broken test fails, or a mended one passes. */
function since(row) {
  const words = said(tests.since[row]);
  return make('span', { class: 'since', title: words }, words);
}

function rowFor(at) {
  const row = found[at];
  const { name, place: where } = split(tests.id[row]);
  const rated = tests.mean[row] !== null;
  const failed = started(tests.failed[row]);
  const to = make(
    'a',
    { href: addressOf({ test: tests.id[row] }), tabindex: at === current ? '0' : '-1' },
    foreign(name, 'bdi'),
  );
  return make(
    'tr',
    {
      role: 'row',
      class: STANDINGS[tests.standing[row]] === 'broken' ? 'is-broken' : null,
      'aria-rowindex': at + 2,
      'data-at': at,
    },
    make(
      'th',
      { role: 'rowheader', scope: 'row', class: 'test' },
      to,
      foreign(where, 'span', { class: 'place', dir: 'ltr' }),
      lastMessage(row),
    ),
    cell(
      'standing',
      badge(tests.standing[row]),
      tests.new[row] ? make('span', { class: 'badge new' }, 'new') : null,
      tests.since[row] === null ? null : since(row),
    ),
    cell(
      'rate',
      ...(rated
        ? [interval(row), make('span', { class: 'figure' }, said(tests.interval[row]))]
        : ['–']),
    ),
    cell('flips', tests.flip[row] === null ? '–' : percent(tests.flip[row])),
    cell(
      'failed',
      failed
        ? make('time', { datetime: failed, title: `${minute(failed)} UTC` }, ago(failed))
        : '–',
    ),
    cell('cost', tests.cost[row] > 0 ? said(tests.burnt[row]) : '–'),
    cell('kind', tests.kind[row] ?? '–'),
    cell('runs', sparkline(row)),
  );
}

/** Put the rows in view into the document, and take the others out of it. */
function draw() {
  const height = rowHeight();
  const top = part('before').getBoundingClientRect().top;
  const first = Math.max(0, Math.min(found.length - 1, Math.floor(-top / height)) - 8);
  const last = Math.min(found.length, Math.max(0, Math.ceil((innerHeight - top) / height)) + 8);
  for (const [at, element] of shown) {
    if (at < first || at >= last) {
      element.remove();
      shown.delete(at);
    }
  }
  const rows = part('rows');
  for (let at = first; at < last; at += 1) {
    if (shown.has(at)) continue;
    const element = rowFor(at);
    rows.insertBefore(element, shown.get(at + 1) ?? nextShown(at));
    shown.set(at, element);
  }
  part('before').style.height = `${first * height}px`;
  part('after').style.height = `${Math.max(0, found.length - last) * height}px`;
}

/** The row in the document before which this one belongs. */
function nextShown(at) {
  for (const element of part('rows').children) if (Number(element.dataset.at) > at) return element;
  return null;
}

/** Move to a row, bring it into view and give it the focus. */
function moveTo(at) {
  if (!found.length) return;
  shown.get(current)?.querySelector('a').setAttribute('tabindex', '-1');
  current = Math.max(0, Math.min(found.length - 1, at));
  const height = rowHeight();
  const head = phone.matches ? 0 : part('heads').offsetHeight;
  const top = part('before').getBoundingClientRect().top + current * height;
  if (top < head) scrollBy({ top: top - head, behavior: 'instant' });
  else if (top + height > innerHeight)
    scrollBy({ top: top + height - innerHeight, behavior: 'instant' });
  draw();
  const to = shown.get(current)?.querySelector('a');
  to?.setAttribute('tabindex', '0');
  to?.focus({ preventScroll: true });
}

function drawHeads() {
  const chosen = state.sort.replace(/^-/, '');
  for (const head of part('heads').children) {
    const is = head.dataset.key === chosen;
    const down = state.sort.startsWith('-');
    if (is) head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    else head.removeAttribute('aria-sort');
  }
  part('sort').value = chosen;
}
