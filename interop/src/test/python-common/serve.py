"""Serves one agent with the server of one release of the official Python SDK, on free ports of this machine.

Prints one line of JSON as soon as it can be called, {server, dialect, url, origins, bindings, lacks}, and stops when its
input ends.

The agent does what the text of a message says:

- talk: it answers with a message
- count: it says 1, 2 and 3 while it works, and makes one artifact out of two pieces
- ask: it asks, and ends with the answer
- fail: it fails, and says why (not the agents of Java)
- wait: it works, and says so all the time, until it is canceled or there is a stop in the same context
- anything else: it ends with an artifact that has the parts of the message
"""

import asyncio
import json
import os
import socket
import sys
import threading

import uvicorn

from client import BINDINGS, CLIENT, DIALECT
import server as program


async def main():
    listener = socket.create_server(('127.0.0.1', 0))
    url = f'http://127.0.0.1:{listener.getsockname()[1]}'
    app, origins = await program.application(url)
    server = uvicorn.Server(uvicorn.Config(app, log_level='warning'))
    # The port is open already, so whoever calls now is only made to wait.
    told = {
        'server': CLIENT,
        'dialect': DIALECT,
        'url': url,
        'origins': origins,
        'bindings': BINDINGS,
        'lacks': getattr(program, 'LACKS', []),  # operations that a framework has no way to offer
    }
    print(json.dumps(told), flush=True)
    await server.serve([listener])


def stop_with_input():
    sys.stdin.read()
    os._exit(0)


threading.Thread(target=stop_with_input, daemon=True).start()
asyncio.run(main())
