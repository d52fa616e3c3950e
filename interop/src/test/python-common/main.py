"""Does everything that one release of a Python client can do with the agents of a hub, once over each binding.

Prints one line of JSON for each operation: {client, dialect, binding, operation, result, detail}.

Usage: python main.py HUB_URL [NAME=HUB_URL ...]
       python main.py HUB_URL @ROUTE ...

The names are those of what one hub cannot be for all: what is asked of its callers, or which is its default agent. Behind
each route of a hub is an agent of `serve`; operations are those of `handyman`, with several agents at a time.
"""

import asyncio
import json
import os
import sys
import traceback

# Libraries print what they like: that goes to the errors.
RESULTS = os.fdopen(os.dup(1), 'w')
os.dup2(2, 1)

from client import BINDINGS, CLIENT, DIALECT, connect
from offered import NotOffered
from operations import AGENTS, OPERATIONS
from session import open_session


SECONDS_PER_OPERATION = 60


async def main(hub, *others):
    if others and others[0].startswith('@'):
        await call_routes(hub, [other[1:] for other in others])
        return
    hubs = {'': hub, **dict(other.split('=', 1) for other in others)}
    for binding, protocol in BINDINGS.items():
        async with open_session(SECONDS_PER_OPERATION) as http:
            agents = {name: await connect(hubs, name, protocol, http) for name in AGENTS}
            for operation, run in OPERATIONS.items():
                report(binding, operation, *await outcome_of(run(**agents)))


async def call_routes(hub, routes):
    from handyman import AGENTS_AT_A_TIME, BINDINGS, OPERATIONS  # not all have it

    places = asyncio.Semaphore(AGENTS_AT_A_TIME)

    async def call(route, binding, protocol, http):
        async with places:
            agent = await connect({'': hub}, route, protocol, http)
            for operation, run in OPERATIONS.items():
                report(binding, f'{route} {operation}', *await outcome_of(run(agent)))

    async with open_session(SECONDS_PER_OPERATION) as http:
        await asyncio.gather(*(
            call(route, binding, protocol, http) for binding, protocol in BINDINGS.items() for route in routes
        ))


def report(binding, operation, result, detail):
    check = {
        'client': CLIENT,
        'dialect': DIALECT,
        'binding': binding,
        'operation': operation,
        'result': result,
        'detail': detail,
    }
    print(json.dumps(check), file=RESULTS, flush=True)


async def outcome_of(work):
    try:
        return 'passed', await asyncio.wait_for(work, SECONDS_PER_OPERATION) or ''
    except NotOffered as reason:
        return 'not offered', str(reason)
    except Exception:
        return 'failed', traceback.format_exc()


asyncio.run(main(*sys.argv[1:]))
