"""Verifies what a hub has signed, and signs cards for it to verify, with the official Python SDK and the Python library of
Standard Webhooks.

Prints one line of JSON for each operation: {client, dialect, binding, operation, result, detail}.

Usage: python main.py URL, where the URL leads to {hubs: {ALG: URL}, keyed, card, webhook: {secret, headers, body}}
"""

import asyncio
import importlib.metadata
import json
import sys
import traceback

import httpx
import jwt

from a2a.client import A2ACardResolver
from a2a.client.card_resolver import parse_agent_card
from a2a.utils.signing import create_agent_card_signer, create_signature_verifier
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from google.protobuf.json_format import MessageToDict
from standardwebhooks import Webhook


CLIENT = f'Python {importlib.metadata.version("a2a-sdk")}, standardwebhooks {importlib.metadata.version("standardwebhooks")}'
CARD = '.well-known/agent-card.json'


async def main(url):
    async with httpx.AsyncClient() as http:

        async def fetched(url):
            return (await http.get(url)).raise_for_status().json()

        given = await fetched(url)
        for alg, hub in given['hubs'].items():
            verify = await verifier(fetched, hub)
            await tell(f'verifies a card ({alg})', verified(http, f'{hub}/agents/echo', verify, '1.0'))
            await tell(
                f'verifies the card for readers of every version ({alg})',
                verified(http, f'{hub}/agents/echo', verify),
            )
            await tell(f'refuses a changed card ({alg})', refuses_changed_card(fetched, hub, verify))
            await tell(f'signs a card ({alg})', signed(given['card'], alg))
        verify = await verifier(fetched, given['hubs']['ES256'])
        await tell('verifies the card of an agent with API keys', verified(http, given['keyed'], verify))
        await tell('verifies a webhook', verified_webhook(given['webhook']))
        await tell('refuses a changed webhook', refuses_changed_webhook(given['webhook']))


async def verifier(fetched, hub):
    """Returns a verifier by the keys that a hub publishes."""
    keys = jwt.PyJWKSet.from_dict(await fetched(f'{hub}/.well-known/jwks.json'))
    return create_signature_verifier(lambda kid, jku: keys[kid], ['ES256', 'EdDSA'])


async def verified(http, agent, verify, version=None):
    headers = {'A2A-Version': version} if version else {}
    card = await A2ACardResolver(http, agent).get_agent_card(
        http_kwargs={'headers': headers}, signature_verifier=verify
    )
    return card.name


async def refuses_changed_card(fetched, hub, verify):
    card = parse_agent_card(await fetched(f'{hub}/agents/echo/{CARD}'))
    card.description = 'something else'
    refused(lambda: verify(card))


async def signed(card, alg):
    if alg == 'ES256':
        key = ec.generate_private_key(ec.SECP256R1())
        public = jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True)
    else:
        key = ed25519.Ed25519PrivateKey.generate()
        public = jwt.algorithms.OKPAlgorithm.to_jwk(key.public_key(), as_dict=True)
    sign = create_agent_card_signer(key, {'alg': alg, 'kid': 'py', 'jku': None, 'typ': 'JOSE'})
    card = MessageToDict(sign(parse_agent_card(card)))
    return json.dumps({'card': card, 'keys': {'keys': [{**public, 'kid': 'py'}]}})


async def verified_webhook(webhook):
    Webhook(webhook['secret']).verify(webhook['body'], webhook['headers'])


async def refuses_changed_webhook(webhook):
    refused(lambda: Webhook(webhook['secret']).verify(webhook['body'] + ' ', webhook['headers']))


def refused(work):
    try:
        work()
    except Exception:
        return
    raise AssertionError('it was accepted')


async def tell(operation, work):
    try:
        result, detail = 'passed', str(await work)
    except Exception:
        result, detail = 'failed', traceback.format_exc()
    print(
        json.dumps(
            {
                'client': CLIENT,
                'dialect': 'signatures',
                'binding': '',
                'operation': operation,
                'result': result,
                'detail': detail,
            }
        ),
        flush=True,
    )


asyncio.run(main(sys.argv[1]))
