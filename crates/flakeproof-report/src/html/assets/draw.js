// Elements and small pictures. Text is only ever set as text, never read as HTML.

const SVG = 'http://www.w3.org/2000/svg';

/** An element with attributes and children; a child that is a string is text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function drawn(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Foreign text, kept from turning the direction of what stands around it. */
const foreign = (text, tag = 'bdi', attributes = {}) => make(tag, attributes, visible(text));

/** A standing as a shape and a word, so that colour is never the only sign. */
function badge(standing) {
  const word = STANDINGS[standing];
  return make('span', { class: `badge ${word.replace(' ', '-')}` }, word);
}

// Each mark by its height and form: passes are low, failures high, flaky ones split, skips a dot.
const FORMS = {
  pass: (x) => `M${x} 13h2v5h-2z`,
  skip: (x) => `M${x} 16h2v2h-2z`,
  fail: (x) => `M${x} 2h2v16h-2z`,
  real: (x) => `M${x} 2h2v16h-2z`,
  flaky: (x) => `M${x} 2h2v7h-2zM${x} 11h2v7h-2z`,
  outage: (x) => `M${x} 2h2v3h-2zM${x} 7h2v3h-2zM${x} 12h2v6h-2z`,
};

/** The last 40 runs as a small strip. */
function sparkline(row) {
  const marks = marksOf(row, 40);
  const paths = new Map();
  let x = 160 - marks.length * 4;
  let failed = 0;
  for (const { shape } of marks) {
    paths.set(shape, (paths.get(shape) ?? '') + FORMS[shape](x));
    failed += shape === 'pass' || shape === 'skip' ? 0 : 1;
    x += 4;
  }
  const label = marks.length ? `${failed} of the last ${marks.length} runs failed` : 'no runs';
  const picture = drawn('svg', {
    class: 'spark',
    viewBox: '0 0 160 20',
    role: 'img',
    'aria-label': label,
  });
  for (const [shape, d] of paths) picture.append(drawn('path', { class: `mark-${shape}`, d }));
  return picture;
}

// Most rates are small: the root of a rate gives one in a hundred a tenth of the width.
const place = (share) => Math.sqrt(Math.max(0, Math.min(1, share))) * 100;

/** A rate between two others as a bar. */
function bar(standing, low, mean, high) {
  const line = make('span', { class: `interval of-${standing}`, 'aria-hidden': 'true' });
  const range = make('span', { class: 'range' });
  range.style.left = `${place(low)}%`;
  range.style.width = `${Math.max(place(high) - place(low), 1)}%`;
  const middle = make('span', { class: 'mean' });
  middle.style.left = `${place(mean)}%`;
  line.append(range, middle);
  return line;
}

/** A test's rate with its interval as a bar. */
const interval = (row) =>
  bar(STANDINGS[tests.standing[row]], tests.low[row], tests.mean[row], tests.high[row]);

/** Bars to the right for what speaks for flakiness, to the left for what speaks against it. */
function weights(reasons) {
  const most = Math.max(...reasons.map(([, weight]) => Math.abs(weight)), 1e-9);
  const list = make('ul', { class: 'weights' });
  for (const [what, weight] of reasons) {
    const bar = make('span', {
      class: `weight ${weight < 0 ? 'against' : 'for'}`,
      'aria-hidden': 'true',
    });
    bar.style.setProperty('--size', `${(Math.abs(weight) / most) * 50}%`);
    const says = weight < 0 ? 'speaks against' : 'speaks for';
    const number = make(
      'span',
      { class: 'number', title: says },
      (weight > 0 ? '+' : '') + weight.toFixed(2),
    );
    list.append(
      make('li', {}, foreign(what), bar, number, make('span', { class: 'unseen' }, says)),
    );
  }
  return list;
}
