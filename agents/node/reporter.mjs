// A reporter for node:test that writes CTRF, one test at a time.
//
// Node's own reporters do not say in which file a test is that passed. This one is loaded by
// `--test-reporter` from outside of the project. A suite is reported only where it fails and none
// of its tests does, as when a hook of it fails. A test within a test is a part of it: it is known
// only once the other runs, and cannot be chosen alone in every version.

import { resolve } from 'node:path';
import { inspect } from 'node:util';

const STATUS = { 'test:pass': 'passed', 'test:fail': 'failed' };

function failureOf(error) {
  const cause = error?.cause ?? error;
  const text = cause instanceof Error && cause.stack ? cause.stack : inspect(cause);
  const message = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  const kind = error?.failureType;
  return { message, trace: text, rawStatus: kind === 'testCodeFailure' ? '' : kind };
}

// From version 22 on it is called by its path from the working directory, and begins on the first line.
function isFile({ name, file, nesting, line }) {
  if (nesting !== 0 || file === undefined) return false;
  return name === file || (line === 1 && resolve(name) === file);
}

function resultOf(type, data, path) {
  const isSkipped = data.skip !== undefined || data.todo !== undefined;
  const hasFailed = type === 'test:fail' && !isSkipped;
  const reason = data.skip ?? data.todo;
  return {
    name: data.name,
    suite: path.slice(0, data.nesting),
    status: isSkipped ? 'skipped' : STATUS[type],
    duration: data.details?.duration_ms ?? 0,
    filePath: data.file,
    line: data.line,
    // A file that dies, or none of whose tests is chosen, is reported in place of its tests.
    ...(isFile(data) ? { type: 'file' } : {}),
    ...(hasFailed ? failureOf(data.details?.error) : {}),
    ...(typeof reason === 'string' ? { message: reason } : {}),
  };
}

// The failure of a test whose part failed is that of the part: node itself only counts them.
function withParts(result, parts) {
  const failed = parts.find((part) => part.status === 'failed');
  if (result.status !== 'failed' || failed === undefined) return result;
  const { message, trace, rawStatus } = failed;
  return { ...result, message: `${failed.name}: ${message}`, trace, rawStatus };
}

export default async function* reporter(source) {
  const path = [];
  // For each depth, what came of the tests there whose parent has not ended yet.
  const pending = [];
  let isFirst = true;
  yield '{"reportFormat":"CTRF","results":{"tool":{"name":"node:test"},"tests":[\n';
  for await (const { type, data } of source) {
    if (type === 'test:start') {
      path.length = data.nesting;
      path[data.nesting] = data.name;
      continue;
    }
    // Node keeps what files print to itself; here it goes where they meant it to go.
    if (type === 'test:stdout') process.stdout.write(data.message);
    if (type === 'test:stderr') process.stderr.write(data.message);
    if (!(type in STATUS)) continue;
    const depth = data.nesting;
    const within = pending[depth + 1] ?? [];
    pending[depth + 1] = undefined;
    const result = resultOf(type, data, path);
    const isExplained = result.status !== 'failed' || within.some((it) => it.status === 'failed');
    const ended =
      data.details?.type !== 'suite' ? [withParts(result, within)]
      : isExplained ? within
      : [...within, result];
    if (depth > 0) {
      (pending[depth] ??= []).push(...ended);
      continue;
    }
    for (const test of ended) {
      yield (isFirst ? '' : ',\n') + JSON.stringify(test);
      isFirst = false;
    }
  }
  yield '\n]}}\n';
}
