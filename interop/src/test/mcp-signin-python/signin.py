"""Signs a user in at a hub by the official Python SDK, and calls its agents as tools: OAuth code flow with PKCE, by a client that
registers itself. The user is a script: it reads the page of the hub, and allows with an API key.

Prints one line of JSON for each operation: {client, dialect, binding, operation, result, detail}.

Usage: python signin.py HUB_URL KEY KEY_WITHOUT_A_SCOPE
"""

import asyncio
import json
import sys
import traceback
import urllib.error
import urllib.request
from importlib.metadata import version
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata

from sdk import connected, returned

REDIRECT = 'http://127.0.0.1:33418/callback'
SECONDS_PER_OPERATION = 30
HUB, KEY, POOR_KEY = sys.argv[1:4]


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


class User:
    """What the SDK stores between the steps, and the user."""

    def __init__(self, key, decision='allow'):
        self.key = key
        self.decision = decision
        self.tokens = self.client = self.back = None
        self.grants = self.visits = 0
        self.provider = OAuthClientProvider(
            HUB + '/mcp',
            OAuthClientMetadata(
                client_name='interop',
                redirect_uris=[REDIRECT],
                grant_types=['authorization_code', 'refresh_token'],
                response_types=['code'],
                token_endpoint_auth_method='none',
            ),
            self,
            self.visit,
            self.come_back,
        )

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.grants += 1
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client

    async def visit(self, url):
        await asyncio.to_thread(self.consent, url)

    def consent(self, url):
        self.visits += 1
        with urllib.request.urlopen(url) as page:
            expect('interop' in page.read().decode(), True)
        form = urlencode([*parse_qsl(urlsplit(url).query), ('key', self.key), ('decision', self.decision)])
        try:
            urllib.request.build_opener(NoRedirect).open(url.split('?')[0], form.encode())
        except urllib.error.HTTPError as answer:
            expect(answer.code, 303)
            self.back = {name: value[0] for name, value in parse_qs(urlsplit(answer.headers['Location']).query).items()}

    async def come_back(self):
        return returned(self.back)


async def text(client, tool):
    result = await client.call_tool(tool, {'message': 'go'})
    return ''.join(block.text for block in result.content if block.type == 'text')


async def sign_in():
    user = User(KEY)
    async with connected(HUB + '/mcp', user.provider) as client:
        expect(await text(client, 'who__who'), 'alice')
    expect((user.visits, user.grants), (1, 1))


async def scope_of_a_tool():
    user = User(KEY)
    async with connected(HUB + '/mcp', user.provider) as client:
        expect(await text(client, 'guarded__open'), 'in')
        expect(await text(client, 'who__who'), 'alice')
    expect(sorted(user.tokens.scope.split()), ['files', 'tasks'])


async def user_without_the_scope():
    user = User(POOR_KEY)
    try:
        async with connected(HUB + '/mcp', user.provider) as client:
            expect(await text(client, 'guarded__open'), '')
    except Exception as refusal:
        expect(isinstance(refusal, AssertionError), False)
    expect(user.visits <= 3, True)
    expect(user.tokens.scope, 'tasks')
    async with connected(HUB + '/mcp', user.provider) as client:
        expect(await text(client, 'who__who'), 'bob')


async def refresh():
    user = User(KEY)
    async with connected(HUB + '/mcp', user.provider) as client:
        first = user.tokens.refresh_token
        user.provider.context.token_expiry_time = 1
        expect(await text(client, 'who__who'), 'alice')
        expect(user.tokens.refresh_token != first, True)
    expect((user.visits, user.grants), (1, 2))


async def denied():
    user = User(KEY, 'deny')
    try:
        async with connected(HUB + '/mcp', user.provider):
            pass
    except BaseException:
        expect(user.back['error'], 'access_denied')
        expect(user.grants, 0)
    else:
        raise AssertionError('not refused')


def expect(actual, expected):
    if actual != expected:
        raise AssertionError(f'expected {expected!r}, was {actual!r}')


OPERATIONS = {
    'sign in': sign_in,
    'tool with a scope': scope_of_a_tool,
    'user without the scope': user_without_the_scope,
    'refresh': refresh,
    'denied': denied,
}


async def main():
    for operation, run in OPERATIONS.items():
        result, detail = 'passed', ''
        try:
            detail = await asyncio.wait_for(run(), SECONDS_PER_OPERATION) or ''
        except Exception:
            result, detail = 'failed', traceback.format_exc()
        print(json.dumps({
            'client': 'Python ' + version('mcp'), 'dialect': 'MCP', 'binding': 'sign-in',
            'operation': operation, 'result': result, 'detail': detail,
        }), flush=True)


asyncio.run(main())
