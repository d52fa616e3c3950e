"""Does everything that the official Python SDK can do with the agents of a hub, once over each binding.

Prints one line of JSON for each operation: {client, binding, operation, ok, detail}.

Usage: python main.py HUB_URL
"""

import asyncio
import importlib.metadata
import json
import sys
import traceback

import httpx

from a2a.client import ClientConfig, create_client
from operations import OPERATIONS


BINDINGS = {'jsonrpc': 'JSONRPC', 'rest': 'HTTP+JSON'}
AGENTS = ['analyst', 'chatty', 'counter', 'echo', 'interview', 'ping']
SECONDS_PER_OPERATION = 20


class Clients:
    """The clients of one agent: one that waits for the answer, and one that streams it."""

    @classmethod
    async def of(cls, url, protocol, http):
        clients = cls()
        clients.url = url
        clients.protocol = protocol
        clients.http = http
        clients.waiting = await create_client(url, cls._config(protocol, http, streaming=False))
        clients.streaming = await create_client(url, cls._config(protocol, http, streaming=True))
        return clients

    @staticmethod
    def _config(protocol, http, streaming):
        return ClientConfig(streaming=streaming, httpx_client=http, supported_protocol_bindings=[protocol])


async def main(hub):
    version = importlib.metadata.version('a2a-sdk')
    for binding, protocol in BINDINGS.items():
        async with httpx.AsyncClient(timeout=SECONDS_PER_OPERATION) as http:
            agents = {name: await Clients.of(f'{hub}/agents/{name}', protocol, http) for name in AGENTS}
            for operation, run in OPERATIONS.items():
                ok = True
                try:
                    detail = await asyncio.wait_for(run(**agents), SECONDS_PER_OPERATION)
                except Exception:
                    ok = False
                    detail = traceback.format_exc()
                check = {
                    'client': f'python {version}',
                    'binding': binding,
                    'operation': operation,
                    'ok': ok,
                    'detail': detail,
                }
                print(json.dumps(check), flush=True)


asyncio.run(main(sys.argv[1]))
