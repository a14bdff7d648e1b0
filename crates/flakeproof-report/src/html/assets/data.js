// The data inside the page, and what can be read from it.

const data = JSON.parse(document.getElementById('data').textContent);
const tests = data.tests;
const runs = data.runs;
const made = Date.parse(data.made);
const outages = new Set(data.outages);
const rowOf = new Map(tests.id.map((id, row) => [id, row]));

const STANDINGS = ['broken', 'flaky', 'unexplained', 'mended', 'steady', 'not run'];
const STEADY = STANDINGS.indexOf('steady');
const OUTCOMES = ['failed', 'failed in set-up or teardown', 'crashed', 'timed out'];
const AGAIN = ['', ', passed when run again', ', failed when run again'];
const VERDICTS = ['', 'found flaky', 'found real', 'cause unknown'];

// The characters that show nothing, or turn the direction of what stands around them.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Foreign text for people to see as it is, and not without end. */
function visible(text, limit = 2000) {
  const cut =
    text.length > limit ? `${text.slice(0, limit / 2)} … ${text.slice(-limit / 2)}` : text;
  const named = (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `⟨U+${code}⟩`;
  };
  return cut.replace(HIDDEN, named);
}

/** A test's id in two: the name people know it by, and where it belongs. */
function split(id) {
  const parameters = id.indexOf('[');
  const plain = parameters > 0 ? id.slice(0, parameters) : id;
  let at = -1;
  for (const mark of ['::', '#', ' > ', '/', '.']) {
    const found = plain.lastIndexOf(mark);
    if (found > 0 && found + mark.length < plain.length) {
      at = found + mark.length;
      return { name: id.slice(at), place: id.slice(0, found) };
    }
  }
  return { name: id, place: '' };
}

/** What one letter of a track stands for, in an outage or out of it. */
function read(letter, isOutage) {
  const simple = {
    '.': ['pass', 'passed'],
    '-': ['skip', 'skipped'],
    ',': ['pass', 'passed, and passed when run again'],
    ';': ['flaky', 'passed, and failed when run again'],
  }[letter];
  if (simple) return { shape: simple[0], words: simple[1] };
  const proven = '!$*+'.indexOf(letter);
  const code = letter.charCodeAt(0);
  const number = proven >= 0 ? proven * 12 : code >= 97 ? code - 97 + 26 : code - 65;
  const again = Math.floor(number / 4) % 3;
  const verdict = number % 4;
  let words = OUTCOMES[Math.floor(number / 12)] + AGAIN[again];
  if (verdict) words += `; ${VERDICTS[verdict]}`;
  if (isOutage) return { shape: 'outage', words: `${words}; part of an outage` };
  if (proven >= 0) return { shape: 'flaky', words: `${words}; passed on the same code elsewhere` };
  if (verdict === 2) return { shape: 'real', words };
  return { shape: verdict === 1 || again === 1 ? 'flaky' : 'fail', words };
}

const meanings = new Map();

/** The same, read once for each letter. */
function meaning(letter, run) {
  const isOutage = outages.has(run);
  const key = isOutage ? `${letter} in an outage` : letter;
  if (!meanings.has(key)) meanings.set(key, read(letter, isOutage));
  return meanings.get(key);
}

/** A test's marks, oldest first; the latest `limit` of them. */
function marksOf(row, limit = Infinity) {
  const pieces = [];
  let run = tests.from[row];
  for (const [, count, letter] of tests.track[row].matchAll(/(\d*)(\D)/g)) {
    const times = count ? Number(count) : 1;
    run += times;
    if (letter !== '_') pieces.push([run, times, letter]);
  }
  const marks = [];
  for (let at = pieces.length - 1; at >= 0 && marks.length < limit; at -= 1) {
    const [end, times, letter] = pieces[at];
    for (let back = 1; back <= times && marks.length < limit; back += 1) {
      const { shape, words } = meaning(letter, end - back);
      marks.push({ run: end - back, shape, words });
    }
  }
  return marks.reverse();
}

/** `2026-11-16 02:00` of an RFC 3339 time stamp. */
const minute = (stamp) => visible((stamp ?? 'some time').slice(0, 16).replace('T', ' '));

/** How long ago a time was when the page was made. */
function ago(stamp) {
  const seconds = (made - Date.parse(stamp)) / 1000;
  if (!Number.isFinite(seconds)) return minute(stamp);
  const units = [
    [86400 * 365, 'y'],
    [86400 * 30, 'mo'],
    [86400, 'd'],
    [3600, 'h'],
    [60, 'min'],
  ];
  const unit = units.find(([size]) => seconds >= size);
  return unit ? `${Math.floor(seconds / unit[0])} ${unit[1]} ago` : 'just now';
}

/** A share in percent; less than all is never written as 100 %. */
function percent(share) {
  const value = share * 100;
  if (value < 9.95) return `${value.toFixed(1)} %`;
  return value > 99 && value < 100
    ? `${Math.min(value, 99.9).toFixed(1)} %`
    : `${value.toFixed(0)} %`;
}

/** Words that the program wrote, so that a figure here is the one that every command shows. */
const said = (number) => (number === null ? null : tests.sentences[number]);

const grouped = (number) => number.toLocaleString('en-US');
