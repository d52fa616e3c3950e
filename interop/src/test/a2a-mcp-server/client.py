"""The bridge a2a-mcp-server, called by MCP as its users call it."""

import os
import tempfile

from contextlib import asynccontextmanager
from importlib.metadata import version

import agent as framework

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from offered import NotOffered


CLIENT = f'a2a-mcp-server {version("a2a-mcp-server")}'
DIALECT = '0.1'
BINDINGS = {'': None}


async def connect(hubs, name, protocol, http):
    return Agent(f'{hubs[""]}/agents/{name}')


class Agent(framework.Agent):
    def __init__(self, url):
        super().__init__(url)
        self._data = tempfile.mkdtemp()  # in which the bridge keeps whose tasks it has started

    async def card(self):
        async with self._bridge() as call:
            [registered] = (await call('list_agents'))['result']
            return registered['name']

    async def send(self, text):
        async with self._bridge() as call:
            # The bridge shows the id of the task at first, and the answer when it is asked for it.
            sent = await call('send_message', agent_url=self.url, message=text)
            return '\n'.join(_texts_of(await call('get_task_result', task_id=sent['task_id'])))

    async def stream(self, text):
        async with self._bridge() as call:
            return _texts_of(await call('send_message_stream', agent_url=self.url, message=text))

    async def progress(self, text):
        async with self._bridge() as call:
            return (await call('send_message_stream', agent_url=self.url, message=text))['messages']

    async def start(self, text):
        async with self._bridge() as call:
            return (await call('send_message', agent_url=self.url, message=text))['task_id']

    async def get(self, task_id):
        async with self._bridge() as call:
            found = await call('get_task_result', task_id=task_id)
            if 'Task ID not found' in found.get('message', ''):
                raise NotOffered('the bridge asks the agent for none but its own tasks')
            return found['state']

    async def cancel(self, task_id):
        async with self._bridge() as call:
            canceled = await call('cancel_task', task_id=task_id)
            assert canceled['status'] == 'success', canceled
            return (await call('get_task_result', task_id=task_id))['state']

    @asynccontextmanager
    async def _bridge(self):
        environment = {**os.environ, 'A2A_MCP_DATA_DIR': self._data}
        transport = StdioTransport('./venv/bin/a2a-mcp-server', [], env=environment, keep_alive=False)
        async with Client(transport, timeout=30) as bridge:

            async def call(tool, **arguments):
                return (await bridge.call_tool(tool, arguments)).structured_content

            await call('register_agent', url=self.url)
            yield call


def _texts_of(result):
    """The texts of an answer: its message, and its artifacts."""
    assert result['status'] == 'success', result
    contents = [content for artifact in result.get('artifacts', []) for content in artifact['contents']]
    return [result.get('message', ''), *(content['text'] for content in contents if content['type'] == 'text')]
