'use strict';

// A picture of what tests can leave behind in a process of Node: things by kind and name, each with a
// short text of its value. Nothing of the project's own code is run for it.

const fs = require('node:fs');
const path = require('node:path');
const { inspect } = require('node:util');

const MOST_FILES = 5000;
const MOST_KEYS = 500;
const NOT_OURS = new Set(['node_modules', '.git', '.flakeproof', 'coverage']);
const LOOK = {
  depth: 3,
  maxArrayLength: 20,
  maxStringLength: 80,
  breakLength: Infinity,
  compact: true,
  customInspect: false,
  showProxy: true,
  sorted: true,
};
// A value of ours, and what Node counts as open for its own sake.
const OWN_VARIABLE = /^FLAKEPROOF/;
const OWN_HANDLE = /^(Immediate|TickObject|PipeWrap|PipeConnectWrap|TTYWrap|ProcessWrap|MessagePort|FSReqPromise|FSReqCallback|CloseReq|Microtask|PROMISE)$/;

// Functions of the same name are told apart by who was seen first.
const functions = new WeakMap();
let seen = 0;

function textOf(value) {
  let text;
  try {
    text = inspect(value, LOOK);
  } catch {
    text = typeof value;
  }
  if (typeof value === 'function') {
    if (!functions.has(value)) functions.set(value, (seen += 1));
    text += ` (${functions.get(value)})`;
  }
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

// The values of an object's own properties. What a module of a bundler exports is behind functions of
// the bundler's own.
function* valuesOf(object, callsGetters) {
  let keys = [];
  try {
    keys = Object.getOwnPropertyNames(object).slice(0, MOST_KEYS);
  } catch {
    return;
  }
  for (const key of keys) {
    const own = Object.getOwnPropertyDescriptor(object, key);
    if (own === undefined) continue;
    if ('value' in own) yield [key, own.value];
    else if (callsGetters && own.get) {
      try {
        yield [key, own.get.call(object)];
      } catch {
        // It is not there yet.
      }
    }
  }
}

function* filesBelow(folder, relative = '', count = { left: MOST_FILES }) {
  let entries = [];
  try {
    entries = fs.readdirSync(path.join(folder, relative), { withFileTypes: true });
  } catch {
    return;
  }
  for (const entry of entries) {
    const name = path.join(relative, entry.name);
    if (NOT_OURS.has(entry.name) || count.left <= 0) continue;
    if (entry.isDirectory()) yield* filesBelow(folder, name, count);
    else if (entry.isFile()) {
      count.left -= 1;
      yield name;
    }
  }
}

function modulesBelow(folder, modules) {
  const below = [];
  for (const [file, exported] of modules) {
    const relative = path.relative(folder, file.replace(/^file:\/\//, '').replace(/[?#].*$/, ''));
    const isOther = relative.startsWith('..') || path.isAbsolute(relative);
    if (!isOther && !relative.split(path.sep).includes('node_modules')) below.push([relative, exported]);
  }
  return below;
}

// `modules` are pairs of a file and what it exports, `global` is the object that its code calls so. A
// runner may have a `process` of its own in there, and handles of the kinds `runners`.
function picture({ folder, modules, global, callsGetters = false, runners = [] }) {
  const own = global.process ?? process;
  const things = { attribute: {}, module: {}, variable: {}, file: {}, listener: {}, handle: {} };
  for (const [name, exported] of modulesBelow(folder, modules)) {
    things.module[name] = 'loaded';
    const isObject = (typeof exported === 'object' && exported !== null) || typeof exported === 'function';
    if (!isObject) continue;
    const skipped = typeof exported === 'function' ? ['length', 'name', 'prototype', 'arguments', 'caller'] : [];
    for (const [key, value] of valuesOf(exported, callsGetters)) {
      if (!skipped.includes(key) && key !== '__esModule') things.attribute[`${name}.${key}`] = textOf(value);
    }
  }
  for (const [key, value] of valuesOf(global, false)) {
    if (value !== global && key !== 'process') things.attribute[`globalThis.${key}`] = textOf(value);
  }
  for (const [name, value] of Object.entries(own.env)) {
    if (!OWN_VARIABLE.test(name)) things.variable[name] = JSON.stringify(value);
  }
  things.working_directory = { '': process.cwd() };
  for (const event of own.eventNames()) {
    things.listener[`of process for ${String(event)}`] = String(own.listenerCount(event));
  }
  for (const kind of process.getActiveResourcesInfo?.() ?? []) {
    if (!OWN_HANDLE.test(kind) && !runners.includes(kind)) things.handle[kind] = String(Number(things.handle[kind] ?? 0) + 1);
  }
  for (const name of filesBelow(folder)) {
    const { size, mtimeMs } = fs.statSync(path.join(folder, name), { throwIfNoEntry: false }) ?? {};
    if (size !== undefined) things.file[name] = `${size} bytes, ${mtimeMs}`;
  }
  return things;
}

// Modules that were loaded by `require`.
function* required() {
  for (const [file, module] of Object.entries(require.cache)) {
    if (module && !file.startsWith(__dirname)) yield [file, module.exports];
  }
}

module.exports = { picture, required };
