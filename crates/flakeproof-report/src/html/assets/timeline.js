// Every run of one test as a strip of marks; each says what it is on hover and by arrow keys.

function facts(mark) {
  const revision = runs.revision[mark.run];
  const branch = runs.branch[mark.run];
  const parts = [`${minute(runs.started[mark.run])} UTC`, mark.words];
  if (revision)
    parts.push(visible(revision.slice(0, 12)) + (branch ? ` on ${visible(branch, 200)}` : ''));
  else if (branch) parts.push(visible(branch, 200));
  if (runs.job[mark.run]) parts.push(visible(runs.job[mark.run], 300));
  return parts.join(' · ');
}

const LEGEND = [
  ['pass', 'passed'],
  ['flaky', 'flaky: passed on the same code'],
  ['fail', 'failed: cause not known'],
  ['real', 'found real'],
  ['outage', 'in an outage'],
  ['skip', 'skipped'],
];

function legend(marks) {
  const seen = new Set(marks.map((mark) => mark.shape));
  const list = make('ul', { class: 'legend' });
  for (const [shape, words] of LEGEND) {
    if (!seen.has(shape)) continue;
    const sample = drawn(
      'svg',
      { viewBox: '0 0 4 20', class: 'sample', 'aria-hidden': 'true' },
      drawn('path', { class: `mark-${shape}`, d: FORMS[shape](1) }),
    );
    list.append(make('li', {}, sample, words));
  }
  return list;
}

function option(mark, at) {
  const picture = drawn(
    'svg',
    { viewBox: '0 0 4 20', 'aria-hidden': 'true' },
    drawn('path', { class: `mark-${mark.shape}`, d: FORMS[mark.shape](1) }),
  );
  const text = facts(mark);
  return make(
    'span',
    {
      id: `mark-${at}`,
      role: 'option',
      'aria-selected': 'false',
      'aria-label': text,
      class: 'mark',
    },
    picture,
  );
}

/** The whole timeline of one test. */
function timeline(row) {
  const marks = marksOf(row);
  if (!marks.length) return make('p', { class: 'empty' }, 'No run in the history has seen it.');
  const options = marks.map((mark, at) => option(mark, at));
  const strip = make(
    'div',
    { class: 'strip', role: 'listbox', tabindex: '0', 'aria-label': 'Runs, oldest first' },
    ...options,
  );
  const readout = make('p', { class: 'readout' });
  let chosen = -1;
  const choose = (at) => {
    options[chosen]?.setAttribute('aria-selected', 'false');
    chosen = Math.max(0, Math.min(options.length - 1, at));
    options[chosen].setAttribute('aria-selected', 'true');
    strip.setAttribute('aria-activedescendant', `mark-${chosen}`);
    readout.textContent = facts(marks[chosen]);
  };
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -10, ArrowDown: 10, Home: -1e9, End: 1e9 };
  strip.addEventListener('keydown', (event) => {
    if (!(event.key in steps)) return;
    event.preventDefault();
    choose(chosen + steps[event.key]);
    options[chosen].scrollIntoView({ block: 'nearest' });
  });
  strip.addEventListener('focus', () => choose(chosen));
  strip.addEventListener('pointermove', (event) => {
    const at = options.indexOf(event.target.closest('.mark'));
    if (at >= 0 && at !== chosen) choose(at);
  });
  choose(lastFailure(marks));
  const shown =
    marks.length < tests.seen[row]
      ? `The last ${grouped(marks.length)} of ${grouped(tests.seen[row])} runs`
      : `${grouped(marks.length)} runs`;
  const ends = make(
    'p',
    { class: 'ends' },
    make('span', {}, minute(runs.started[marks[0].run]).slice(0, 10)),
    make('span', {}, shown),
    make('span', {}, minute(runs.started[marks.at(-1).run]).slice(0, 10)),
  );
  return make('div', { class: 'timeline' }, strip, ends, readout, legend(marks));
}

function lastFailure(marks) {
  const telling = marks.findLastIndex((mark) => !['pass', 'skip', 'outage'].includes(mark.shape));
  return telling < 0 ? marks.length - 1 : telling;
}
