// Signs a user in at a hub by the official TypeScript SDK, and calls its agents as tools: OAuth code flow with PKCE, by a client that
// registers itself. The user is a script: it reads the page of the hub, and allows with an API key.
//
// Prints one line of JSON for each operation: {client, dialect, binding, operation, result, detail}.
// Usage: node signin.mjs HUB_URL KEY KEY_WITHOUT_A_SCOPE
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport, sdk } from './sdk.mjs';

const [hub, key, poorKey] = process.argv.slice(2);
const mcp = new URL('/mcp', hub);

/** What the SDK stores between the steps, and the user. */
class SignIn {
  grants = 0;
  visits = 0;

  constructor(key, decision = 'allow') {
    this.key = key;
    this.decision = decision;
  }

  get redirectUrl() {
    return 'http://127.0.0.1:33418/callback';
  }

  get clientMetadata() {
    return {
      client_name: 'interop',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none'
    };
  }

  clientInformation() {
    return this.client;
  }

  saveClientInformation(client) {
    this.client = client;
  }

  tokens() {
    return this.saved;
  }

  saveTokens(tokens) {
    this.grants += 1;
    this.saved = tokens;
  }

  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }

  codeVerifier() {
    return this.verifier;
  }

  async redirectToAuthorization(url) {
    this.visits += 1;
    const page = await fetch(url);
    assert.equal(page.status, 200);
    assert.match(await page.text(), /interop/);
    const form = new URLSearchParams(url.searchParams);
    form.set('key', this.key);
    form.set('decision', this.decision);
    const answer = await fetch(new URL(url.pathname, url), { method: 'POST', body: form, redirect: 'manual' });
    assert.equal(answer.status, 303);
    this.back = new URL(answer.headers.get('location')).searchParams;
  }
}

async function connect(user) {
  for (let attempt = 0; ; attempt += 1) {
    const transport = new StreamableHTTPClientTransport(mcp, { authProvider: user });
    const client = new Client({ name: 'interop', version: '1' }, { capabilities: {} });
    try {
      await client.connect(transport);
      return client;
    } catch (problem) {
      if (attempt > 0 || !user.back?.get('code')) {
        throw problem;
      }
      await transport.finishAuth(user.back.get('code'), user.back.get('iss') ?? undefined);
    }
  }
}

const text = result => result.content.filter(block => block.type === 'text').map(block => block.text).join('');
const call = (client, tool) => client.callTool({ name: tool, arguments: { message: 'go' } });

/** A call for which the SDK may send the user to the hub again, for another scope. */
async function callWithConsent(user, client, tool) {
  const visits = user.visits;
  try {
    return [client, await call(client, tool)];
  } catch (problem) {
    if (user.visits === visits) {
      throw problem;
    }
    await new StreamableHTTPClientTransport(mcp, { authProvider: user }).finishAuth(
      user.back.get('code'),
      user.back.get('iss') ?? undefined
    );
    const again = await connect(user);
    return [again, await call(again, tool)];
  }
}

const operations = {
  async 'sign in'() {
    const user = new SignIn(key);
    const client = await connect(user);
    assert.equal(text(await call(client, 'who__who')), 'alice');
    assert.deepEqual([user.visits, user.grants], [1, 1]);
    await client.close();
  },
  async 'tool with a scope'() {
    const user = new SignIn(key);
    const [client, result] = await callWithConsent(user, await connect(user), 'guarded__open');
    assert.equal(text(result), 'in');
    assert.equal(text(await call(client, 'who__who')), 'alice');
    assert.deepEqual(user.saved.scope.split(' ').sort(), ['files', 'tasks']);
    await client.close();
  },
  async 'user without the scope'() {
    const user = new SignIn(poorKey);
    const client = await connect(user);
    await assert.rejects(callWithConsent(user, client, 'guarded__open'));
    assert.ok(user.visits <= 3, `${user.visits} visits`);
    assert.equal(text(await call(await connect(user), 'who__who')), 'bob');
    assert.equal(user.saved.scope, 'tasks');
  },
  async refresh() {
    const user = new SignIn(key);
    const client = await connect(user);
    const first = user.saved;
    user.saved = { ...first, access_token: `${first.access_token.slice(0, -6)}000000` };
    assert.equal(text(await call(client, 'who__who')), 'alice');
    assert.notEqual(user.saved.refresh_token, first.refresh_token);
    assert.deepEqual([user.visits, user.grants], [1, 2]);
    await client.close();
  },
  async denied() {
    const user = new SignIn(key, 'deny');
    await assert.rejects(connect(user));
    assert.equal(user.back.get('error'), 'access_denied');
    assert.equal(user.grants, 0);
  }
};

for (const [operation, run] of Object.entries(operations)) {
  let result = 'passed';
  let detail = '';
  try {
    detail = (await run()) ?? '';
  } catch (problem) {
    result = 'failed';
    detail = problem?.stack ?? String(problem);
  }
  console.log(JSON.stringify({ client: sdk, dialect: 'MCP', binding: 'sign-in', operation, result, detail }));
}
process.exit(0);
