"""The parts of the SDK that differ between its generations."""

from contextlib import asynccontextmanager

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult


@asynccontextmanager
async def connected(url, provider):
    async with httpx2.AsyncClient(auth=provider) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            yield client


def returned(back):
    return AuthorizationCodeResult(code=back['code'], state=back.get('state'), iss=back.get('iss'))
