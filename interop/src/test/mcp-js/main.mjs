// Calls the agents of a hub as tools of MCP, by the official TypeScript SDK, once over each transport and era.
//
// Prints one line of JSON for each operation: {client, dialect, binding, operation, result, detail}.
// Usage: node main.mjs HUB_URL SECURED_HUB_URL TOKEN STDIO_COMMAND_AS_JSON
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const MILLISECONDS_PER_OPERATION = 30_000;

const sdk = JSON.parse(readFileSync('node_modules/@modelcontextprotocol/client/package.json', 'utf8'));
const [hub, secured, token, stdio] = process.argv.slice(2);

async function connect(transport, revision, options = {}) {
  const client = new Client(
    { name: 'interop', version: '1' },
    {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: { mode: revision === LEGACY ? 'legacy' : 'auto' },
      ...options
    }
  );
  await client.connect(transport);
  return client;
}

const http = (url, headers = {}) => new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });

function program() {
  const [command, ...args] = JSON.parse(stdio);
  return new StdioClientTransport({ command, args });
}

const text = result => result.content.filter(block => block.type === 'text').map(block => block.text).join('');

async function refused(call, name) {
  const error = await call.then(() => assert.fail('not refused'), problem => problem);
  assert.equal(error.code, -32602, String(error));
  assert.ok(error.message.includes(name), error.message);
}

function operations(client, name, revision, questions, answers, changes) {
  const call = (tool, args, options) => client.callTool({ name: tool, arguments: args }, options);
  return {
    connect() {
      assert.equal(client.getServerVersion().name, 'parley');
      assert.equal(client.getNegotiatedProtocolVersion(), revision);
    },
    async 'list tools'() {
      const tools = new Map((await client.listTools()).tools.map(tool => [tool.name, tool]));
      assert.match(tools.get('counter__count').description, /Counts from 1/);
      assert.deepEqual(tools.get('booking__order').inputSchema.properties, { guests: { type: 'integer' } });
    },
    async call() {
      const result = await call('echo__echo', { message: 'Grüße, 世界 🌍' });
      assert.equal(text(result), 'Grüße, 世界 🌍');
      assert.equal(result.structuredContent.state, 'completed');
    },
    async 'failed call'() {
      const result = await call('failing__fail', { message: 'x' });
      assert.equal(result.isError, true);
      assert.match(text(result), /no luck/);
    },
    'unknown tool': () => refused(call('nothing__here', {}), 'nothing__here'),
    async progress() {
      const seen = [];
      const result = await call('counter__count', { message: '3' }, { onprogress: progress => seen.push(progress) });
      assert.equal(text(result), 'Counted to 3.');
      assert.ok(seen.length > 1);
      assert.ok(seen.every((each, i) => i === 0 || each.progress > seen[i - 1].progress), JSON.stringify(seen));
      assert.ok(seen.some(each => each.message?.includes('of 3')), JSON.stringify(seen));
    },
    async 'question answered'() {
      answers.push({ action: 'accept', content: { answer: 'Ada' } }, { action: 'accept', content: { answer: 'a car' } });
      assert.equal(text(await call('interview__interview', { message: 'Hello' })), 'Name: Ada\nWish: a car\n');
      assert.deepEqual(questions.slice(-2).map(question => question.message), ['What is your name?', 'What do you want, Ada?']);
    },
    async 'question with a form'() {
      answers.push({ action: 'accept', content: { table: 'window', quiet: true } });
      assert.equal(text(await call('booking__order', { guests: 2 })), 'window for 2, quiet');
      assert.deepEqual(Object.keys(questions.at(-1).requestedSchema.properties).sort(), ['quiet', 'table']);
    },
    async 'question declined'() {
      answers.push({ action: 'decline' });
      const result = await call('booking__order', { guests: 2 });
      assert.equal(result.isError, true);
      assert.match(text(result), /canceled/);
    },
    async cancel() {
      const key = `${name} ${process.pid}`;
      const stop = new AbortController();
      const begun = resolvers();
      const waiting = call('waiter__wait', { message: key }, { signal: stop.signal, onprogress: begun.resolve });
      await Promise.race([begun.promise, waiting]);
      stop.abort();
      await assert.rejects(waiting);
      assert.equal(text(await call('waiter__confirm', { message: key })), 'interrupted');
    },
    async resources() {
      const { resources } = await client.listResources();
      assert.ok(resources.some(resource => resource.uri === 'parley://agents/echo/card'));
      const { resourceTemplates } = await client.listResourceTemplates();
      assert.ok(resourceTemplates.some(template => template.name === 'card'));
      const card = (await client.readResource({ uri: 'parley://agents/echo/card' })).contents[0];
      assert.equal(JSON.parse(card.text).name, 'echo');
      await refused(client.readResource({ uri: 'parley://agents/nothing/card' }), 'nothing');
    },
    async 'artifact as a resource'() {
      const { content } = await call('files__make', { message: 'x' });
      const image = content.find(block => block.type === 'image');
      assert.equal(Buffer.from(image.data, 'base64').toString('latin1'), '\x89PNG');
      const link = content.find(block => block.type === 'resource_link');
      const { contents } = await client.readResource({ uri: link.uri });
      assert.equal(Buffer.from(contents[0].blob, 'base64').length, 100_000);
    },
    async prompts() {
      assert.ok((await client.listPrompts()).prompts.some(prompt => prompt.name === 'echo__echo'));
      const prompt = await client.getPrompt({ name: 'echo__echo', arguments: { message: 'good evening' } });
      assert.match(prompt.messages[0].content.text, /good evening/);
    },
    async completion() {
      const prompt = await client.complete({
        ref: { type: 'ref/prompt', name: 'echo__echo' },
        argument: { name: 'message', value: 'say' }
      });
      assert.deepEqual(prompt.completion.values, ['Say it again']);
      const agent = await client.complete({
        ref: { type: 'ref/resource', uri: 'parley://agents/{agent}/card' },
        argument: { name: 'agent', value: 'ec' }
      });
      assert.deepEqual(agent.completion.values, ['echo']);
    },
    async 'list changed'() {
      const agent = `new-${name.toLowerCase().replaceAll(' ', '-')}`;
      const changed = changes.next();
      await call('opener__open', { message: agent });
      await changed;
      const { tools } = await client.listTools(undefined, { cacheMode: 'refresh' });
      assert.ok(tools.some(tool => tool.name === `${agent}__work`));
    },
    async 'address of one agent'() {
      const one = await connect(http(`${hub}/agents/echo/mcp`), revision);
      const names = (await one.listTools()).tools.map(tool => tool.name);
      assert.deepEqual(names.filter(tool => tool.includes('__')), ['echo__echo']);
      await one.close();
    },
    async 'bearer token'() {
      const known = await connect(http(`${secured}/mcp`, { Authorization: `Bearer ${token}` }), revision);
      assert.equal(text(await known.callTool({ name: 'echo__echo', arguments: { message: 'secret' } })), 'secret');
      await known.close();
      await assert.rejects(async () => {
        const unknown = await connect(http(`${secured}/mcp`), revision);
        await unknown.listTools();
      }, /401|[Uu]nauthorized|Authentication required/);
    },
    async 'long task'() {
      const known = await connect(http(`${secured}/mcp`, { Authorization: `Bearer ${token}` }), revision);
      const tool = (tool, args) => known.callTool({ name: tool, arguments: args });
      const { taskId, state } = (await tool('counter__count', { message: '600' })).structuredContent;
      assert.equal(state, 'working');
      assert.equal((await tool('task_status', { taskId })).structuredContent.state, 'working');
      assert.equal((await tool('task_cancel', { taskId })).structuredContent.state, 'canceled');
      await known.close();
    }
  };
}

function resolvers() {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return parts;
}

function limited(work) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('took too long')), MILLISECONDS_PER_OPERATION);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

function tell(binding, operation, result, detail) {
  console.log(
    JSON.stringify({ client: `TypeScript ${sdk.version}`, dialect: 'clients', binding, operation, result, detail })
  );
}

async function everything(transport, kind, revision) {
  const questions = [];
  const answers = [];
  let waiting = [];
  const changes = { next: () => new Promise(resolve => waiting.push(resolve)) };
  const client = await connect(transport, revision, {
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => waiting.splice(0).forEach(resolve => resolve()) } }
  });
  client.setRequestHandler('elicitation/create', request => {
    questions.push(request.params);
    return answers.shift();
  });
  const binding = `${kind} ${revision}`;
  const all = operations(client, `TypeScript ${binding}`, revision, questions, answers, changes);
  const only = kind === 'HTTP' ? [] : ['list changed', 'address of one agent', 'bearer token', 'long task'];
  for (const [operation, run] of Object.entries(all).filter(([operation]) => !only.includes(operation))) {
    try {
      await limited((async () => run())());
      tell(binding, operation, 'passed', '');
    } catch (failure) {
      tell(binding, operation, 'failed', String(failure?.stack ?? failure));
    }
  }
  await client.close();
}

await everything(http(`${hub}/mcp`), 'HTTP', MODERN);
await everything(http(`${hub}/mcp`), 'HTTP', LEGACY);
await everything(program(), 'stdio', MODERN);
await everything(program(), 'stdio', LEGACY);
process.exit(0);
