// Serves one agent with the server of one release of the official JavaScript SDK, on free ports of this machine.
// Prints one line of JSON as soon as it can be called, {server, dialect, url, origins, bindings}, and stops when its input
// ends.
//
// What the agent does follows from the text of a message, as with its namesake in Python.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { Agent } from './agent.mjs';
import { DIALECT } from './client.mjs';
import { SDK } from './sdk.mjs';
import { BINDINGS, application, eventsOf } from './server.mjs';

const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}`;
const { app, origins } = await application(url, new Agent(eventsOf));
server.on('request', app);
console.log(JSON.stringify({ server: SDK, dialect: DIALECT, url, origins, bindings: BINDINGS }));
process.stdin.resume().on('end', () => process.exit(0));
