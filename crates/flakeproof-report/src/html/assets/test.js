// All that is known about one test, in a panel.

const section = (title, ...children) => make('section', {}, make('h3', {}, title), ...children);
const sentence = (text) =>
  make('p', {}, foreign(text.charAt(0).toUpperCase() + text.slice(1) + '.', 'bdi'));
const list = (items, mapped) =>
  make('ul', { class: 'plain' }, ...items.map((item) => make('li', {}, ...[mapped(item)].flat())));

/** The first of many, and how many more there are. */
function some({ items, more }, mapped) {
  const shown = list(items, mapped);
  if (more) shown.append(make('li', { class: 'quiet' }, `and ${grouped(more)} more`));
  return shown;
}

/** A test's id that leads to it, if the page knows it. */
function link(id) {
  const known = rowOf.has(id);
  return known ? make('a', { href: addressOf({ test: id }) }, foreign(id)) : foreign(id, 'code');
}

const together = (set) => set.flatMap((id, at) => (at ? [' with ', link(id)] : [link(id)]));

function rate(row) {
  const box = make('div', { class: 'rate' });
  box.append(sentence(said(tests.words[row])));
  if (tests.mean[row] !== null) {
    const scale = make('span', { class: 'scale', 'aria-hidden': 'true' });
    for (const share of [0, 0.01, 0.1, 0.25, 0.5, 1]) {
      const tick = make('span', {}, share ? `${share * 100} %` : '0');
      tick.style.left = `${place(share)}%`;
      scale.append(tick);
    }
    box.append(make('div', { class: 'scaled' }, interval(row), scale));
  }
  return box;
}

function numbers(row) {
  const fact = (name, value) =>
    value === null ? null : make('div', {}, make('dt', {}, name), make('dd', {}, value));
  const day = (run) => (run === null ? null : minute(runs.started[run]));
  const share = (value) => (value === null ? null : percent(value));
  const { entropy } = tests;
  return make(
    'dl',
    { class: 'facts small' },
    fact('CI time burnt', said(tests.burnt[row])),
    fact('Builds failed by flaky tests', grouped(tests.builds[row])),
    fact('Flip rate', share(tests.flip[row])),
    fact('Entropy', entropy[row] === null ? null : `${entropy[row].toFixed(2)} bits`),
    fact('Unexplained failures', grouped(tests.unexplained[row])),
    fact('Failures in outages', grouped(tests.outages[row])),
    fact('First seen', day(tests.first[row])),
    fact('Last seen', day(tests.last[row])),
    fact('Last failed', day(tests.failed[row])),
  );
}

function command(text) {
  const code = make('code', {}, visible(text, 20000));
  const button = make('button', { type: 'button', class: 'copy' }, 'Copy');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = 'Selected: copy with the keyboard';
    }
  });
  return make('div', { class: 'command' }, make('pre', { tabindex: '0' }, code), button);
}

function hunted(hunt) {
  const parts = [sentence(hunt.kind ?? 'did not show that it is flaky'), sentence(hunt.fared)];
  const sets = [
    ['Fails after', hunt.polluters],
    ['Passes only after', hunt.setters],
  ];
  for (const [title, all] of sets) {
    if (all.items.length) parts.push(make('h4', {}, title), some(all, together));
  }
  if (hunt.cleaners.items.length)
    parts.push(make('h4', {}, 'Healed by'), some(hunt.cleaners, link));
  if (hunt.left.items.length)
    parts.push(
      make('h4', {}, 'What is left behind'),
      some(hunt.left, (left) => foreign(left)),
    );
  if (hunt.calls.items.length)
    parts.push(
      make('h4', {}, 'Relies on'),
      some(hunt.calls, (call) => foreign(call)),
    );
  if (hunt.failure) parts.push(make('h4', {}, 'Its first failure'), foreign(hunt.failure, 'pre'));
  return section('What the hunt found', ...parts);
}

function caused(cause) {
  const rates = cause.levers.map(
    ([lever, value, [failed, runs], [plainly, beside]]) =>
      `${lever} ${value}: fails ${failed} of ${runs}, and ${plainly} of ${beside} without`,
  );
  return section(
    'What makes it fail',
    sentence(`${cause.answer} ${cause.levers[0]?.[0] ?? ''}: ${cause.says}`),
    list(rates, (words) => foreign(words)),
    cause.command ? command(cause.command) : null,
  );
}

function evidence({ items: findings, more }) {
  const items = findings.map((finding) =>
    make(
      'li',
      {},
      make('p', {}, make('b', {}, minute(finding.started)), ` · ${finding.verdict}`),
      finding.kind ? sentence(finding.kind) : null,
      list(finding.evidence, (words) => foreign(words)),
    ),
  );
  if (more) items.push(make('li', { class: 'quiet' }, `and ${grouped(more)} before these`));
  return section('Evidence', make('ol', { class: 'findings' }, ...items));
}

function failures({ items: ways, more }) {
  const items = ways.map(([message, times, last]) =>
    make(
      'li',
      {},
      foreign(message, 'pre'),
      make(
        'p',
        { class: 'quiet' },
        `in ${times === 1 ? '1 run' : `${grouped(times)} runs`}, last ${minute(last)}`,
      ),
    ),
  );
  if (more) items.push(make('li', { class: 'quiet' }, `and ${grouped(more)} other ways`));
  return section('Ways it failed', make('ol', { class: 'findings' }, ...items));
}

function predicted(prediction) {
  const parts = [sentence(prediction.says)];
  if (prediction.advice) parts.push(sentence(prediction.advice));
  if (prediction.reasons.length)
    parts.push(make('h4', {}, 'Because of'), weights(prediction.reasons));
  if (prediction.neighbours.length) {
    parts.push(
      make('h4', {}, 'Nearest known tests'),
      list(prediction.neighbours, ([words, flaky, shared]) => [
        foreign(words),
        make(
          'span',
          { class: 'quiet' },
          ` · ${flaky ? 'flaky' : 'not flaky'}`,
          shared.length ? `, shares ${visible(shared.join(', '))}` : '',
        ),
      ]),
    );
  }
  for (const [attention, steps] of prediction.paths) {
    const items = steps.map((step) =>
      make(
        'li',
        {},
        make('span', { class: 'quiet' }, visible(step.at)),
        foreign(step.code, 'code'),
        step.then ? make('span', { class: 'quiet' }, `through ${visible(step.then)}`) : null,
      ),
    );
    parts.push(
      make('h4', {}, `Into an assertion (${percent(attention)} of the model’s attention)`),
      make('ol', { class: 'path' }, ...items),
    );
  }
  parts.push(make('p', { class: 'quiet' }, 'Said from the source alone: nothing was run for it.'));
  return section('What a model says', ...parts);
}

/** An address that leads somewhere as a link, and nothing else as one. */
function named(value) {
  const leads = /^https?:\/\/\S+$/.test(value);
  return leads ? make('a', { href: value, rel: 'noreferrer' }, foreign(value)) : foreign(value);
}

function quarantine(entry) {
  const parts = [
    ['Owner', entry.owner],
    ['Reason', entry.reason],
    ['Issue', entry.issue],
    ['Branch', entry.branch],
    ['Since', entry.added],
    ['Until', entry.expires],
    ['Covers', entry.id],
  ];
  const known = parts.filter(([, value]) => value);
  return section(
    'Quarantine',
    make(
      'dl',
      { class: 'facts small' },
      ...known.map(([name, value]) =>
        make('div', {}, make('dt', {}, name), make('dd', {}, named(value))),
      ),
    ),
  );
}

/** A way to the tests that fail like this one. */
function alike(row) {
  const group = tests.group[row];
  if (group === null || data.groups[group] < 2) return null;
  const others = data.groups[group] - 1;
  const words = `${grouped(others)} other ${others === 1 ? 'test fails' : 'tests fail'} alike`;
  return make('p', {}, make('a', { href: addressOf({ test: '', same: `${group}` }) }, words));
}

/** The tests that fail in the same runs as this one. */
function cluster(row) {
  const number = tests.cluster[row];
  if (number === null) return null;
  const [says, { items, more }] = data.together[number];
  const others = items.filter((other) => other !== row);
  return section(
    'Fails together',
    sentence(says),
    some({ items: others, more }, (other) => link(tests.id[other])),
  );
}

/** Where it stands, without what its id says already. */
function located(where, location) {
  if (!location || location === where) return null;
  const is = location.startsWith(`${where}:`);
  return ` · ${is ? `line ${location.slice(where.length + 1)}` : visible(location)}`;
}

/** What the panel shows about a test. */
function describe(row) {
  const detail = data.details[row];
  const { name, place: where } = split(tests.id[row]);
  const parts = [
    make(
      'p',
      { class: 'marks' },
      badge(tests.standing[row]),
      tests.new[row] ? make('span', { class: 'badge new' }, 'new') : null,
      tests.quarantined[row] ? make('span', { class: 'badge held' }, 'in quarantine') : null,
      tests.kind[row] ? make('span', { class: 'badge kind' }, tests.kind[row]) : null,
    ),
    make('h2', { id: 'test-name' }, foreign(name)),
    make(
      'p',
      { class: 'place' },
      foreign(where),
      located(where, detail?.location),
      tests.owners[row] === null ? null : ` · owned by ${visible(said(tests.owners[row]))}`,
    ),
    tests.formerly[row] === null
      ? null
      : make('p', { class: 'quiet' }, 'formerly ', foreign(said(tests.formerly[row]))),
    tests.since[row] === null
      ? null
      : make('p', { class: `since ${STANDINGS[tests.standing[row]]}` }, said(tests.since[row])),
    sentence(data.standings[tests.standing[row]]),
    alike(row),
    cluster(row),
    section(
      'How often it fails',
      rate(row),
      detail?.repeats ? sentence(detail.repeats) : null,
      detail?.unexplained ? sentence(detail.unexplained) : null,
      numbers(row),
    ),
    section('Timeline', timeline(row)),
  ];
  if (detail?.reproduce) parts.push(section('See it fail', command(detail.reproduce)));
  if (detail?.failures.items.length) parts.push(failures(detail.failures));
  if (detail?.hunted) parts.push(hunted(detail.hunted));
  if (detail?.cause) parts.push(caused(detail.cause));
  if (detail?.findings.items.length) parts.push(evidence(detail.findings));
  if (detail?.features.length) {
    parts.push(
      section(
        'What it does that flaky tests do',
        weights(detail.features),
        make(
          'p',
          { class: 'quiet' },
          'What each measured feature adds to a forest’s belief that it is flaky (SHAP).',
        ),
      ),
    );
  }
  if (detail?.prediction) parts.push(predicted(detail.prediction));
  if (detail?.quarantine) parts.push(quarantine(detail.quarantine));
  if (!detail?.hunted && STANDINGS[tests.standing[row]] === 'flaky')
    parts.push(
      section(
        'Next',
        make(
          'p',
          {},
          'Find its kind, and who makes it fail: ',
          make('code', {}, 'flakeproof hunt'),
          '.',
        ),
      ),
    );
  return parts;
}
