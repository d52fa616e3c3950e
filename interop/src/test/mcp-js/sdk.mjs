import { readFileSync } from 'node:fs';

export { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
export const sdk = `TypeScript ${JSON.parse(readFileSync('node_modules/@modelcontextprotocol/client/package.json', 'utf8')).version}`;
