"""How this release of the SDK makes clients."""

from importlib.metadata import version

import grpc.aio

from a2a.client import ClientConfig, create_client


CLIENT = f'Python {version("a2a-sdk")}'
DIALECT = '1.0'
BINDINGS = {'jsonrpc': 'JSONRPC', 'rest': 'HTTP+JSON', 'grpc': 'GRPC'}


class Clients:
    """The clients of one agent: one that waits for the answer, and one that streams it."""

    def __init__(self, url, protocol, http, waiting, streaming):
        self.url = url
        self.protocol = protocol
        self.http = http
        self.waiting = waiting
        self.streaming = streaming


async def connect(hubs, name, protocol, http):
    url = f'{hubs[""]}/agents/{name}'

    async def client(streaming):
        config = ClientConfig(
            streaming=streaming,
            httpx_client=http,
            grpc_channel_factory=grpc.aio.insecure_channel,
            supported_protocol_bindings=[protocol],
        )
        return await create_client(url, config)

    return Clients(url, protocol, http, await client(streaming=False), await client(streaming=True))
