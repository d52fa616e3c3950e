// Does everything that the official JavaScript SDK can do with the agents of a hub, once over each binding.
// Prints one line of JSON for each operation: {client, binding, operation, ok, detail}.
//
// Usage: node main.mjs HUB_URL

import { readFileSync } from 'node:fs';
import { ClientFactory, ClientFactoryOptions } from '@a2a-js/sdk/client';
import { OPERATIONS } from './operations.mjs';

const BINDINGS = { jsonrpc: 'JSONRPC', rest: 'HTTP+JSON' };
const AGENTS = ['analyst', 'chatty', 'counter', 'echo', 'interview', 'ping'];
const SECONDS_PER_OPERATION = 20;

const hub = process.argv[2];
const sdk = JSON.parse(readFileSync(new URL('./node_modules/@a2a-js/sdk/package.json', import.meta.url)));

for (const [binding, protocol] of Object.entries(BINDINGS)) {
  const agents = await connect(protocol);
  for (const [operation, run] of Object.entries(OPERATIONS)) {
    let ok = true;
    let detail;
    try {
      detail = await withDeadline(run(agents, protocol));
    } catch (failure) {
      ok = false;
      detail = String(failure?.stack ?? failure);
    }
    console.log(JSON.stringify({ client: `js ${sdk.version}`, binding, operation, ok, detail }));
  }
}
process.exit(0);

/** One client for each agent, all of them over the same binding. */
async function connect(protocol) {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { preferredTransports: [protocol] });
  const factory = new ClientFactory(options);
  const clients = AGENTS.map(async (name) => [
    name,
    await factory.createFromUrl(`${hub}/agents/${name}/`, '.well-known/agent-card.json'),
  ]);
  return Object.fromEntries(await Promise.all(clients));
}

function withDeadline(work) {
  let timer;
  const deadline = new Promise((_, reject) => {
    const late = () => reject(new Error(`no end within ${SECONDS_PER_OPERATION} s`));
    timer = setTimeout(late, SECONDS_PER_OPERATION * 1000);
  });
  return Promise.race([work, deadline]).finally(() => clearTimeout(timer));
}
