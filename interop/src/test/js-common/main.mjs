// Does everything that one release of the official JavaScript SDK can do with the agents of a hub, once over each binding.
// Prints one line of JSON for each operation: {client, dialect, binding, operation, result, detail}.
//
// Usage: node main.mjs HUB_URL
//        node main.mjs HUB_URL @ROUTE ...
//
// Behind each route of a hub is an agent of `serve`; operations are those of `handyman`, with several agents at a time.

import { BINDINGS, DIALECT, connect } from './client.mjs';
import { OPERATIONS } from './operations.mjs';
import { NotOffered } from './offered.mjs';
import { SDK } from './sdk.mjs';

const AGENTS = ['analyst', 'chatty', 'counter', 'echo', 'interview', 'ping'];
const SECONDS_PER_OPERATION = 20;

const AGENTS_AT_A_TIME = 4;

const [hub, ...others] = process.argv.slice(2);
const routes = others.filter((other) => other.startsWith('@')).map((other) => other.slice(1));
await (routes.length > 0 ? callRoutes() : callAgents());
process.exit(0);

async function callAgents() {
  for (const [binding, protocol] of Object.entries(BINDINGS)) {
    const clients = AGENTS.map(async (name) => [name, await connect(`${hub}/agents/${name}`, protocol)]);
    const agents = Object.fromEntries(await Promise.all(clients));
    for (const [operation, run] of Object.entries(OPERATIONS)) {
      report(binding, operation, await outcomeOf(() => run(agents, protocol)));
    }
  }
}

async function callRoutes() {
  const { OPERATIONS } = await import('./handyman.mjs');
  const pairs = Object.entries(BINDINGS).flatMap((binding) => routes.map((route) => [...binding, route]));
  const call = async () => {
    for (let pair = pairs.shift(); pair; pair = pairs.shift()) {
      const [binding, protocol, route] = pair;
      const agent = await connect(`${hub}/agents/${route}`, protocol);
      for (const [operation, run] of Object.entries(OPERATIONS)) {
        report(binding, `${route} ${operation}`, await outcomeOf(() => run(agent, protocol)));
      }
    }
  };
  await Promise.all(Array.from({ length: AGENTS_AT_A_TIME }, call));
}

function report(binding, operation, outcome) {
  console.log(JSON.stringify({ client: SDK, dialect: DIALECT, binding, operation, ...outcome }));
}

async function outcomeOf(work) {
  try {
    return { result: 'passed', detail: (await withDeadline(work())) ?? '' };
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
