import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import { A2AService, grpcService } from '@a2a-js/sdk/server/grpc';
import express from 'express';
import { cardOf } from './card.mjs';
import { BINDINGS as BINDINGS_OF_CLIENT } from './client.mjs';
import { startGrpc } from './grpc.mjs';

export { eventsOf } from './events.mjs';
export const BINDINGS = { ...BINDINGS_OF_CLIENT, grpc: 'GRPC' };

/** Returns what answers at the URL, and the other origins that its card leads to. */
export async function application(url, agent) {
  const grpc = await startGrpc();
  const urls = { jsonrpc: url, rest: `${url}/rest`, grpc: grpc.authority };
  const additionalInterfaces = Object.entries(BINDINGS).map(([name, transport]) => ({ url: urls[name], transport }));
  const card = cardOf(url, { protocolVersion: '0.3.0', preferredTransport: 'JSONRPC', additionalInterfaces });
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), agent);
  const how = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  grpc.server.addService(A2AService, grpcService(how));
  const app = express();
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rest', restHandler(how));
  app.use('/', jsonRpcHandler(how));
  return { app, origins: [`http://${grpc.authority}`] };
}
