import { ClientFactory, ClientFactoryOptions } from '@a2a-js/sdk/client';

export const DIALECT = '1.0';
export const BINDINGS = { jsonrpc: 'JSONRPC', rest: 'HTTP+JSON' };

/** Returns a client of the agent that speaks over this binding. */
export function connect(url, protocol) {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { preferredTransports: [protocol] });
  return new ClientFactory(options).createFromUrl(`${url}/`, '.well-known/agent-card.json');
}
