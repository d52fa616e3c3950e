import { A2AClient } from '@a2a-js/sdk/client';
import { NotOffered } from './offered.mjs';

export const DIALECT = '0.2';
export const BINDINGS = { jsonrpc: 'JSONRPC' };

/** Returns a client of the agent. */
export async function connect(url) {
  const client = new A2AClient(url);
  return {
    protocol: 'JSONRPC',
    card: () => client.getAgentCard(),
    send: (params) => resultOf(client.sendMessage(params)),
    stream: (params) => client.sendMessageStream(params),
    get: (params) => resultOf(client.getTask(params)),
    cancel: (params) => resultOf(client.cancelTask(params)),
    resubscribe: (params) => client.resubscribeTask(params),
    setPushConfig: (params) => resultOf(client.setTaskPushNotificationConfig(params)),
    getPushConfig: (params) => resultOf(client.getTaskPushNotificationConfig(params)),
    listPushConfigs: notOffered,
    deletePushConfig: notOffered,
  };
}

/** Returns the code of the error that a call has ended with; this release has it in a text only, where it streams. */
export function codeOf(failure) {
  return failure.code ?? Number(/\(Code: (-\d+)\)/.exec(failure.message)?.[1]);
}

async function resultOf(call) {
  const { result, error } = await call;
  if (error) {
    throw Object.assign(new Error(error.message), { code: error.code });
  }
  return result;
}

function notOffered() {
  throw new NotOffered('the client has no such method');
}
