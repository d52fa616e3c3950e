import { Role, TaskState } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryPushNotificationStore, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import { A2AService, grpcService } from '@a2a-js/sdk/server/grpc';
import express from 'express';
import { randomUUID } from 'node:crypto';
import { BINDINGS as BINDINGS_OF_CLIENT } from './client.mjs';
import { startGrpc } from './grpc.mjs';

export const BINDINGS = { ...BINDINGS_OF_CLIENT, grpc: 'GRPC' };

/** How this release writes what happens to a task. */
export function eventsOf(taskId, contextId) {
  const part = (text) => ({ content: { $case: 'text', value: text }, filename: '', mediaType: '' });
  const messageOf = (text) => ({
    messageId: randomUUID(),
    role: Role.ROLE_AGENT,
    taskId,
    contextId,
    parts: [part(text)],
    extensions: [],
    referenceTaskIds: [],
  });
  const statusOf = (state, text) => ({
    state: TaskState[`TASK_STATE_${state.toUpperCase().replace('-', '_')}`],
    timestamp: new Date().toISOString(),
    message: text && messageOf(text),
  });
  return {
    part,
    textOf: ({ parts }) => parts[0].content.value,
    message: (text) => AgentEvent.message(messageOf(text)),
    task: (message, known) =>
      AgentEvent.task(
        known ?? { id: taskId, contextId, status: statusOf('submitted'), history: [message], artifacts: [] },
      ),
    status: (state, text) => AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state, text) }),
    artifact: (parts, piece) =>
      AgentEvent.artifactUpdate({
        taskId,
        contextId,
        artifact: { artifactId: 'a', name: '', description: '', parts, extensions: [] },
        ...piece,
      }),
  };
}

/** Returns what answers at the URL, and the other origins that its card leads to. */
export async function application(url, agent) {
  const grpc = await startGrpc();
  const urls = { jsonrpc: url, rest: `${url}/rest`, grpc: grpc.authority };
  const card = {
    name: 'handyman',
    description: 'Does what the text says',
    version: '1.0.0',
    supportedInterfaces: Object.entries(BINDINGS).map(([name, protocolBinding]) => ({
      url: urls[name],
      protocolBinding,
      tenant: '',
      protocolVersion: '1.0',
    })),
    capabilities: { streaming: true, pushNotifications: true, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain', 'text/csv'],
    defaultOutputModes: ['text/plain', 'text/csv'],
    skills: [
      {
        id: 'do',
        name: 'Do',
        description: 'Does it',
        tags: ['test'],
        examples: [],
        inputModes: [],
        outputModes: [],
        securityRequirements: [],
      },
    ],
    signatures: [],
  };
  const requestHandler = new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    agent,
    undefined,
    new InMemoryPushNotificationStore(),
  );
  const how = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  grpc.server.addService(A2AService, grpcService(how));
  const app = express();
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rest', restHandler(how));
  app.use('/', jsonRpcHandler(how));
  return { app, origins: [`http://${grpc.authority}`] };
}
