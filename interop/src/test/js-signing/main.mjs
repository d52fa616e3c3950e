// Verifies what a hub has signed, and signs cards for it to verify, with the official JavaScript SDK and the JavaScript
// library of Standard Webhooks. Prints one line of JSON for each operation: {client, dialect, binding, operation, result, detail}.
//
// Usage: node main.mjs URL, where the URL leads to {hubs: {ALG: URL}, keyed, card, webhook: {secret, headers, body}}

import { readFileSync } from 'node:fs';
import { generateAgentCardSignature, verifyAgentCardSignature } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import * as jose from 'jose';
import { Webhook } from 'standardwebhooks';

const versionOf = (name) => JSON.parse(readFileSync(new URL(`./node_modules/${name}/package.json`, import.meta.url))).version;
const client = `JavaScript ${versionOf('@a2a-js/sdk')}, standardwebhooks ${versionOf('standardwebhooks')}`;

const given = await json(process.argv[2]);
const operations = [];

for (const [alg, hub] of Object.entries(given.hubs)) {
  const verify = verifyAgentCardSignature(keysOf(hub));
  operations.push([`verifies a card (${alg})`, async () => {
    const agent = await new ClientFactory().createFromUrl(`${hub}/agents/echo/`, '.well-known/agent-card.json');
    return (await agent.getAgentCard(undefined, verify)).name;
  }]);
  operations.push([`verifies the card for readers of every version (${alg})`, async () => {
    await verify(await json(`${hub}/agents/echo/.well-known/agent-card.json`));
  }]);
  operations.push([`refuses a changed card (${alg})`, async () => {
    const card = await json(`${hub}/agents/echo/.well-known/agent-card.json`);
    await refused(verify({ ...card, description: 'something else' }));
  }]);
  operations.push([`signs a card (${alg})`, async () => {
    const { publicKey, privateKey } = await jose.generateKeyPair(alg, { extractable: true });
    const sign = generateAgentCardSignature(privateKey, { alg, kid: 'js', typ: 'JOSE' });
    const key = { ...(await jose.exportJWK(publicKey)), kid: 'js' };
    return JSON.stringify({ card: await sign(given.card), keys: { keys: [key] } });
  }]);
}
operations.push(['verifies the card of an agent with API keys', async () => {
  const verify = verifyAgentCardSignature(keysOf(given.hubs.ES256));
  await verify(await json(`${given.keyed}/.well-known/agent-card.json`));
}]);
operations.push(['verifies a webhook', async () => {
  new Webhook(given.webhook.secret).verify(given.webhook.body, given.webhook.headers);
}]);
operations.push(['refuses a changed webhook', async () => {
  await refused(async () => new Webhook(given.webhook.secret).verify(`${given.webhook.body} `, given.webhook.headers));
}]);

console.debug = () => {}; // where the SDK tells of signatures that it did not accept
for (const [operation, run] of operations) {
  let outcome;
  try {
    outcome = { result: 'passed', detail: String(await run()) };
  } catch (failure) {
    outcome = { result: 'failed', detail: String(failure?.stack ?? failure) };
  }
  console.log(JSON.stringify({ client, dialect: 'signatures', binding: '', operation, ...outcome }));
}

async function json(url) {
  return (await fetch(url)).json();
}

/** Returns a way to the keys that a hub publishes. */
function keysOf(hub) {
  return async (kid) => (await json(`${hub}/.well-known/jwks.json`)).keys.find((key) => key.kid === kid);
}

async function refused(work) {
  try {
    await (typeof work === 'function' ? work() : work);
  } catch {
    return;
  }
  throw new Error('it was accepted');
}
