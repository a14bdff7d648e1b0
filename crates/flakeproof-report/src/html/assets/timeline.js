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

/** What the marks of these shapes stand for. */
function legend(shapes) {
  const list = make('ul', { class: 'legend' });
  for (const [shape, words] of LEGEND) {
    if (!shapes.has(shape)) continue;
    const sample = drawn(
      'svg',
      { viewBox: '0 0 4 20', class: 'sample', 'aria-hidden': 'true' },
      drawn('path', { class: `mark-${shape}`, d: FORMS[shape](1) }),
    );
    list.append(make('li', {}, sample, words));
  }
  return list;
}

/** What the bars and marks of the table stand for. */
function drawLegend() {
  const list = legend(new Set(LEGEND.map(([shape]) => shape)));
  const words = 'failure rate: what was seen, and what holds it with 95 %';
  list.prepend(make('li', {}, bar('flaky', 0.04, 0.16, 0.4), words));
  part('legend').append(list);
}

function option(mark, at) {
  const picture = drawn(
    'svg',
    { viewBox: '0 0 4 20', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
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
    ...lines(marks, options),
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
  return make(
    'div',
    { class: 'timeline' },
    strip,
    make('p', { class: 'shown' }, shown),
    readout,
    legend(new Set(marks.map((mark) => mark.shape))),
  );
}

// At most so many runs stand on one line, whatever its width.
const LINE = 80;
// The share of a line that the name of a day needs, on a phone.
const NAME = 0.2;

/** The marks line by line, each as wide as the panel, with its days below it. */
function lines(marks, options) {
  const wide = Math.ceil(marks.length / Math.ceil(marks.length / LINE));
  const all = [];
  for (let from = 0; from < marks.length; from += wide) {
    const some = options.slice(from, from + wide);
    const line = make('div', { class: 'line', role: 'presentation' }, ...some);
    line.style.setProperty('--marks', wide);
    all.push(line, days(marks.slice(from, from + wide), wide));
  }
  return all;
}

/** The days of a line of marks, each below the first run of that day. */
function days(marks, wide) {
  const dayOf = (mark) => minute(runs.started[mark.run]).slice(0, 10);
  const isFirst = (at) => at === 0 || dayOf(marks[at]) !== dayOf(marks[at - 1]);
  const firsts = marks.map((mark, at) => at).filter(isFirst);
  const axis = make('div', { class: 'days', 'aria-hidden': 'true' });
  let free = 0;
  for (const at of firsts) {
    const left = at / wide;
    const isLast = left > 1 - NAME;
    // At the end of the line a name stands before its mark, and needs that room too.
    if (left < (isLast ? free + NAME : free)) continue;
    free = left + NAME + 0.05;
    const label = make('span', {}, dayOf(marks[at]));
    if (isLast) label.style.right = `${(1 - (at + 1) / wide) * 100}%`;
    else label.style.left = `${left * 100}%`;
    axis.append(label);
  }
  return axis;
}

function lastFailure(marks) {
  const telling = marks.findLastIndex((mark) => !['pass', 'skip', 'outage'].includes(mark.shape));
  return telling < 0 ? marks.length - 1 : telling;
}
