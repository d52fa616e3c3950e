import { Server, ServerCredentials } from '@grpc/grpc-js';
import { promisify } from 'node:util';

/** Starts a server of gRPC on a free port of this machine; its services may be added later. */
export async function startGrpc() {
  const server = new Server();
  const port = await promisify(server.bindAsync.bind(server))('127.0.0.1:0', ServerCredentials.createInsecure());
  return { server, authority: `127.0.0.1:${port}` };
}
