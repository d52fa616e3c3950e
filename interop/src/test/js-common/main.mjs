// Does everything that one release of the official JavaScript SDK can do with the agents of a hub, once over each binding.
// Prints one line of JSON for each operation: {client, dialect, binding, operation, result, detail}.
//
// Usage: node main.mjs HUB_URL

import { BINDINGS, DIALECT, connect } from './client.mjs';
import { OPERATIONS } from './operations.mjs';
import { NotOffered } from './offered.mjs';
import { SDK } from './sdk.mjs';

const AGENTS = ['analyst', 'chatty', 'counter', 'echo', 'interview', 'ping'];
const SECONDS_PER_OPERATION = 20;

const hub = process.argv[2];

for (const [binding, protocol] of Object.entries(BINDINGS)) {
  const clients = AGENTS.map(async (name) => [name, await connect(`${hub}/agents/${name}`, protocol)]);
  const agents = Object.fromEntries(await Promise.all(clients));
  for (const [operation, run] of Object.entries(OPERATIONS)) {
    const outcome = await outcomeOf(() => run(agents, protocol));
    console.log(JSON.stringify({ client: SDK, dialect: DIALECT, binding, operation, ...outcome }));
  }
}
process.exit(0);

async function outcomeOf(work) {
  try {
    return { result: 'passed', detail: await withDeadline(work()) };
  } catch (failure) {
    return failure instanceof NotOffered
      ? { result: 'not offered', detail: failure.message }
      : { result: 'failed', detail: String(failure?.stack ?? failure) };
  }
}

function withDeadline(work) {
  let timer;
  const deadline = new Promise((_, reject) => {
    const late = () => reject(new Error(`no end within ${SECONDS_PER_OPERATION} s`));
    timer = setTimeout(late, SECONDS_PER_OPERATION * 1000);
  });
  return Promise.race([work, deadline]).finally(() => clearTimeout(timer));
}
