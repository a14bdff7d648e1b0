// A reporter for vitest that writes the full titles of tests, one a line, as they begin.

import fs from 'node:fs';

export default class OrderReporter {
  onTestCaseReady(test) {
    if (test.options?.mode === 'skip') return;
    fs.appendFileSync(process.env.BEGUN, test.fullName.replaceAll(' > ', ' ') + '\n');
  }
}
