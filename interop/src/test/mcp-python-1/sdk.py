"""The parts of the SDK that differ between its generations."""

from contextlib import asynccontextmanager

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


@asynccontextmanager
async def connected(url, provider):
    async with streamablehttp_client(url, auth=provider) as (read, write, _):
        async with ClientSession(read, write) as client:
            await client.initialize()
            yield client


def returned(back):
    return back['code'], back.get('state')
