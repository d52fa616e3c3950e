// An OpenID provider at a port of this machine, 0 for a free one. It makes its key itself, so one that is started again has
// another. Prints one line of JSON as soon as it can be asked, {server, url}, and stops when its input ends.
//
// Usage: node serve.mjs PORT
//
// Who asks for a resource gets a JWT for it, as RFC 8707 and RFC 9068 have it, and who asks for none an opaque token.

import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const { version } = JSON.parse(readFileSync(new URL('./node_modules/oidc-provider/package.json', import.meta.url)));
const server = createServer().listen(Number(process.argv[2]), '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}`;

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const provider = new Provider(url, {
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' }] },
  clients: [{
    client_id: 'robot',
    client_secret: 'secret-of-the-robot',
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
  }],
  scopes: ['tasks'],
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (context, resource) => ({ audience: resource, scope: 'tasks', accessTokenFormat: 'jwt' }),
    },
  },
});
server.on('request', provider.callback());
console.log(JSON.stringify({ server: `oidc-provider ${version}`, url }));
process.stdin.resume().on('end', () => process.exit(0));
