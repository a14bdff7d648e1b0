// Gives modules that import `node:test` the one that notes what they declare.

const NOTED = 'flakeproof:node-test';
let source;

export function initialize(data) {
  source = data.source;
}

export async function resolve(specifier, context, next) {
  if (specifier === 'node:test') return { url: NOTED, format: 'module', shortCircuit: true };
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (url === NOTED) return { format: 'module', source, shortCircuit: true };
  return next(url, context);
}
