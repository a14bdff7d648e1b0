// A coding agent with the official TypeScript SDK, which checks every answer against its schema.
//
//     client.mjs PROGRAM PROJECT COMMAND…

import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

// The packages lie outside the project.
const require = createRequire(join(process.env.SDK_MODULES, 'here.js'));
const from = async (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)));
const { Client } = await from('client/index.js');
const { StdioClientTransport } = await from('client/stdio.js');

const [program, project, ...command] = process.argv.slice(2);
const READING = ['triage_failure', 'list_flaky', 'explain_test', 'repro_command', 'predict_diff'];
const RUNNING = ['run_tests', 'hunt', 'cause', 'verify_fix', 'propose_fix'];

const client = new Client({ name: 'agent', version: '1' });
await client.connect(
  new StdioClientTransport({
    command: program,
    args: ['mcp', '--allow-run', '--', ...command],
    cwd: project,
    env: process.env,
  }),
);

const said = (result) => result.content.map((block) => block.text).join('\n');

/** The structured part of an answer; the SDK has compared it with the schema of the tool. */
async function ask(name, args = {}, options = {}) {
  // A busy machine may take longer than the minute that the SDK waits.
  const patient = { timeout: 600_000, ...options };
  const result = await client.callTool({ name, arguments: args }, undefined, patient);
  assert.ok(!result.isError, `${name}: ${said(result)}`);
  assert.ok(said(result).trim());
  return result.structuredContent;
}

async function refused(name, args, word) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(result.isError, said(result));
  assert.ok(said(result).includes(word) && said(result).includes('next: '), said(result));
}

async function until(isSo) {
  const deadline = Date.now() + 120_000;
  while (!isSo()) {
    assert.ok(Date.now() < deadline, 'it takes too long');
    await pause(20);
  }
}

// What is offered. The SDK keeps the schemas of answers from here on.
const tools = (await client.listTools()).tools.map((tool) => tool.name);
assert.deepEqual(tools, [...READING, ...RUNNING]);
const { resourceTemplates } = await client.listResourceTemplates();
assert.equal(resourceTemplates[0].uriTemplate, 'flakeproof://tests/{test}');
const report = await client.readResource({ uri: 'flakeproof://report' });
assert.equal(report.contents[0].mimeType, 'text/markdown');
const { prompts } = await client.listPrompts();
assert.equal(prompts[0].name, 'mend_flaky_test');
await assert.rejects(client.getPrompt({ name: 'mend_flaky_test' }), /test is missing/);
await assert.rejects(client.readResource({ uri: 'file:///etc/passwd' }), /there is nothing at/);

// Reading, and mistakes.
assert.equal((await ask('list_flaky')).total, 0);
assert.equal((await ask('triage_failure')).total, 0);
assert.match((await ask('explain_test', { test: 'victim' })).meaning, /^victim/);
assert.equal((await ask('predict_diff', { paths: ['test_shop.py'] })).tests, 2);
await refused('explain_test', { test: 'test_that_does_not_exist' }, 'no test is called');
await refused('run_tests', { select: ['--co'] }, 'is no test');
await refused('cause', { test: 'test_that_does_not_exist' }, 'test_that_does_not_exist');
await assert.rejects(client.callTool({ name: 'shell' }), /there is no tool `shell`/);

// Progress, up to an explained cause: the test fails in every zone but one.
const heard = [];
const onprogress = (progress) => heard.push(progress);
const zone = { test: 'test_zone', levers: ['zone'], budget_seconds: 400 };
const cause = await ask('cause', zone, { onprogress });
assert.deepEqual([cause.answer, cause.lever], ['caused by', 'zone'], JSON.stringify(cause));
assert.ok(heard.some((it) => it.message.includes('test_zone')), JSON.stringify(heard));
assert.ok(heard.every((it, at) => at === 0 || it.progress > heard[at - 1].progress));
const explained = await ask('explain_test', { test: 'test_zone' });
assert.equal(explained.tests[0].cause, cause.sentence);
assert.equal((await ask('list_flaky')).tests[0].what, 'latent');

// From the cause to a patch that is proven under the lever, and what it hides.
assert.match((await ask('repro_command', { test: 'test_zone' })).replay, /test_zone/);
assert.equal((await ask('verify_fix', { test: 'test_zone' })).verdict, 'still_flaky');
const [patch] = (await ask('propose_fix', { test: 'test_zone' })).patches;
assert.ok(patch.proven && patch.diff.includes('zone.setenv("TZ", "UTC")'), JSON.stringify(patch));
assert.match(patch.hides, /users in other zones/);

// A call that is cancelled leaves no process behind, and the server goes on.
const running = join(project, 'running.pid');
const abort = new AbortController();
const call = ask('run_tests', { select: ['waits/test_wait.py'] }, { signal: abort.signal });
await until(() => existsSync(running));
abort.abort('changed my mind');
await assert.rejects(call, /changed my mind/);
const pid = readFileSync(running, 'utf8');
await until(() => !existsSync(`/proc/${pid}`));
rmSync(running);
assert.equal((await ask('list_flaky')).total, 1);

await client.close();
