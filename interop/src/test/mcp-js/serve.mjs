// Serves tools of MCP by the official TypeScript SDK: over stdio, or with the argument "http" over HTTP.
//
// Over HTTP it prints its address, and ends with the standard input, so that it does not outlive its test.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const sdk = JSON.parse(readFileSync('node_modules/@modelcontextprotocol/server/package.json', 'utf8'));
const canceled = {};
canceled.promise = new Promise(resolve => Object.assign(canceled, { resolve }));
const Table = z.object({ table: z.string(), quiet: z.boolean() });
let knowsToFail = true;
let handler;

const text = value => ({ content: [{ type: 'text', text: value }] });

function make({ era }) {
  const server = new McpServer({ name: 'typescript', version: sdk.version }, { capabilities: { tools: { listChanged: true } } });
  const tool = (name, description, inputSchema, work, more = {}) =>
    server.registerTool(name, { description, inputSchema: z.object(inputSchema), ...more }, work);
  const outputSchema = z.object({ said: z.string(), revision: z.string() });
  tool('say', 'Says it again', { text: z.string() }, ({ text: said }) => {
    const structuredContent = { said, revision: era };
    return { ...text(JSON.stringify(structuredContent)), structuredContent };
  }, { outputSchema });
  tool('count', 'Counts', { to: z.number().int() }, async ({ to }, ctx) => {
    for (let step = 1; step <= to; step++) await progress(ctx, step, `${step} of ${to}`, to);
    return text(`counted to ${to}`);
  });
  tool('order', 'Orders a table', { guests: z.number().int() }, ({ guests }, ctx) => {
    const table = acceptedContent(ctx.mcpReq.inputResponses, 'table', Table);
    return table
      ? text(`${table.table} for ${guests}${table.quiet ? ', quiet' : ''}`)
      : inputRequired({ inputRequests: { table: inputRequired.elicit({ message: 'Which table?', requestedSchema: Table }) } });
  });
  const failing = tool('fail', 'Fails', {}, () => {
    throw new Error('no luck');
  });
  tool('make', 'Makes a picture, a file and a link', {}, () => ({
    content: [
      { type: 'text', text: 'made' },
      { type: 'image', data: 'iVBORw==', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'test://small', mimeType: 'application/x', blob: 'AQID' } },
      { type: 'resource_link', uri: 'test://linked', name: 'linked' }
    ]
  }));
  server.registerResource('linked', 'test://linked', { mimeType: 'text/plain' }, uri => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'behind the link' }]
  }));
  tool('wait', 'Waits until it is canceled', {}, async (_, ctx) => {
    await progress(ctx, 1, 'begun');
    await once(ctx.mcpReq.signal, 'abort');
    canceled.resolve();
    return text('stopped');
  });
  tool('confirm', 'Tells whether a wait was canceled', {}, async () => {
    await canceled.promise;
    return text('canceled');
  });
  tool('forget', 'Forgets the tool that fails', {}, () => {
    knowsToFail = false;
    failing.remove(); // which tells a client over stdio
    handler?.notify.toolsChanged();
    return text('forgotten');
  });
  if (!knowsToFail) failing.remove();
  return server;
}

async function progress(ctx, progress, message, total) {
  const { progressToken } = ctx.mcpReq._meta ?? {};
  if (progressToken !== undefined) {
    await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total, message } });
  }
}

if (process.argv[2] === 'http') {
  process.stdin.resume().on('end', () => process.exit(0));
  handler = createMcpHandler(make);
  const listener = createServer(toNodeHandler(handler)).listen(0, '127.0.0.1', () => {
    const url = `http://127.0.0.1:${listener.address().port}/mcp`;
    console.log(JSON.stringify({ server: `TypeScript ${sdk.version}`, url }));
  });
} else {
  serveStdio(make);
}
