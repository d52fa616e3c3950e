"""Does everything that one release of the official Python SDK can do with the agents of a hub, once over each binding.

Prints one line of JSON for each operation: {client, dialect, binding, operation, result, detail}.

Usage: python main.py HUB_URL
"""

import asyncio
import importlib.metadata
import json
import sys
import traceback

import httpx

from client import BINDINGS, DIALECT, connect
from offered import NotOffered
from operations import OPERATIONS


AGENTS = ['analyst', 'chatty', 'counter', 'echo', 'interview', 'ping']
SECONDS_PER_OPERATION = 20


async def main(hub):
    version = importlib.metadata.version('a2a-sdk')
    for binding, protocol in BINDINGS.items():
        async with httpx.AsyncClient(timeout=SECONDS_PER_OPERATION) as http:
            agents = {name: await connect(f'{hub}/agents/{name}', protocol, http) for name in AGENTS}
            for operation, run in OPERATIONS.items():
                result, detail = await outcome_of(run(**agents))
                check = {
                    'client': f'Python {version}',
                    'dialect': DIALECT,
                    'binding': binding,
                    'operation': operation,
                    'result': result,
                    'detail': detail,
                }
                print(json.dumps(check), flush=True)


async def outcome_of(work):
    try:
        return 'passed', await asyncio.wait_for(work, SECONDS_PER_OPERATION)
    except NotOffered as reason:
        return 'not offered', str(reason)
    except Exception:
        return 'failed', traceback.format_exc()


asyncio.run(main(sys.argv[1]))
