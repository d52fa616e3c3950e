import * as sdk from '@a2a-js/sdk/client';
import { ClientFactory, ClientFactoryOptions } from '@a2a-js/sdk/client';

export const DIALECT = '0.3';
export const BINDINGS = { jsonrpc: 'JSONRPC', rest: 'HTTP+JSON' };

/** The errors that the REST transport throws, which tell no codes. */
const CODES = new Map([
  [sdk.TaskNotFoundError, -32001],
  [sdk.TaskNotCancelableError, -32002],
  [sdk.UnsupportedOperationError, -32004],
]);

/** Returns a client of the agent that speaks over this binding. */
export async function connect(url, protocol) {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new sdk.JsonRpcTransportFactory(), new sdk.RestTransportFactory()],
    preferredTransports: [protocol],
  });
  const client = await new ClientFactory(options).createFromUrl(`${url}/`);
  return {
    protocol: client.transport instanceof sdk.RestTransport ? 'HTTP+JSON' : 'JSONRPC',
    card: () => client.getAgentCard(),
    send: (params) => client.sendMessage(params),
    stream: (params) => client.sendMessageStream(params),
    get: (params) => client.getTask(params),
    cancel: (params) => client.cancelTask(params),
    resubscribe: (params) => client.resubscribeTask(params),
    setPushConfig: (params) => client.setTaskPushNotificationConfig(params),
    getPushConfig: (params) => client.getTaskPushNotificationConfig(params),
    listPushConfigs: (params) => client.listTaskPushNotificationConfig(params),
    deletePushConfig: (params) => client.deleteTaskPushNotificationConfig(params),
  };
}

/** Returns the code of the error that a call has ended with. */
export function codeOf(failure) {
  return (failure.cause ?? failure).errorResponse?.error.code ?? CODES.get(failure.constructor);
}
