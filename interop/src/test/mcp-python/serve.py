"""Serves tools of MCP by the official Python SDK: over stdio, or with the argument "http" over HTTP.

Over HTTP it prints its address, and ends with the standard input, so that it does not outlive its test.
"""

import asyncio
import json
import os
import socket
import sys
import threading
from importlib.metadata import version
from typing import Annotated

import uvicorn
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import BlobResourceContents, CallToolResult, EmbeddedResource, ImageContent, ResourceLink, TextContent
from pydantic import BaseModel

server = MCPServer('python', version=version('mcp'))
canceled = asyncio.Event()


class Said(BaseModel):
    said: str
    revision: str | None


class Table(BaseModel):
    table: str
    quiet: bool


@server.tool(description='Says it again')
def say(text: str, ctx: Context) -> Said:
    return Said(said=text, revision=ctx.protocol_version)


@server.tool(description='Counts')
async def count(to: int, ctx: Context) -> str:
    for step in range(1, to + 1):
        await ctx.report_progress(step, to, f'{step} of {to}')
    return f'counted to {to}'


async def ask() -> Elicit[Table]:
    return Elicit('Which table?', Table)


@server.tool(description='Orders a table')
async def order(guests: int, table: Annotated[Table, Resolve(ask)]) -> str:
    return f'{table.table} for {guests}' + (', quiet' if table.quiet else '')


@server.tool(description='Fails')
def fail() -> str:
    raise ToolError('no luck')


@server.tool(description='Makes a picture, a file and a link')
def make() -> CallToolResult:
    return CallToolResult(
        content=[
            TextContent(type='text', text='made'),
            ImageContent(type='image', data='iVBORw==', mime_type='image/png'),
            EmbeddedResource(
                type='resource',
                resource=BlobResourceContents(uri='test://small', mime_type='application/x', blob='AQID'),
            ),
            ResourceLink(type='resource_link', uri='test://linked', name='linked'),
        ]
    )


@server.resource('test://linked', mime_type='text/plain')
def linked() -> str:
    return 'behind the link'


@server.tool(description='Waits until it is canceled')
async def wait(ctx: Context) -> str:
    await ctx.report_progress(1, None, 'begun')
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        canceled.set()
        raise
    return 'waited'


@server.tool(description='Tells whether a wait was canceled')
async def confirm() -> str:
    await asyncio.wait_for(canceled.wait(), 20)
    return 'canceled'


@server.tool(description='Forgets the tool that fails')
async def forget(ctx: Context) -> str:
    server.remove_tool('fail')
    if ctx.protocol_version == '2026-07-28':
        await ctx.notify_tools_changed()
    else:
        await ctx.session.send_tool_list_changed()
    return 'forgotten'


def end_with_input():
    sys.stdin.read()
    os._exit(0)


if sys.argv[1:] == ['http']:
    threading.Thread(target=end_with_input, daemon=True).start()
    listener = socket.create_server(('127.0.0.1', 0))
    url = f'http://127.0.0.1:{listener.getsockname()[1]}/mcp'
    print(json.dumps({'server': 'Python ' + version('mcp'), 'url': url}), flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level='warning')
    asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))
else:
    server.run()
