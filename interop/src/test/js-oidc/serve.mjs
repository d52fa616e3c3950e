// An OpenID provider at a port of this machine, 0 for a free one. It makes its key itself, so one that is started again has
// another. Prints one line of JSON as soon as it can be asked, {server, url}, and stops when its input ends.
//
// Usage: node serve.mjs PORT
//
// A user signs in at its page by a click, as ann, for the client console.
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
  }, {
    client_id: 'console',
    application_type: 'native', // any port of the loopback interface
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code'],
    redirect_uris: ['http://127.0.0.1/ui/signin'],
    response_types: ['code'],
  }],
  findAccount: (context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (context, { uid }) => `/interaction/${uid}` },
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
const answer = provider.callback();
server.on('request', (request, response) => request.url.startsWith('/interaction/') ? interact(request, response) : answer(request, response));

/** Signs a user in by a click, and consents by itself. */
async function interact(request, response) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    if (request.method === 'POST') return provider.interactionFinished(request, response, { login: { accountId: 'ann' } });
    response.setHeader('Content-Type', 'text/html');
    return response.end('<!doctype html><title>Provider</title><link rel="icon" href="data:,"><form method="post"><button>Sign in as ann</button></form>');
  }
  const grant = await (grantId ? provider.Grant.find(grantId) : new provider.Grant({ accountId: session.accountId, clientId: params.client_id }));
  if (prompt.details.missingOIDCScope) grant.addOIDCScope(prompt.details.missingOIDCScope.join(' '));
  for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) grant.addResourceScope(resource, scopes.join(' '));
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
}
console.log(JSON.stringify({ server: `oidc-provider ${version}`, url }));
process.stdin.resume().on('end', () => process.exit(0));
