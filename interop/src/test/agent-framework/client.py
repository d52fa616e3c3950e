"""The agent of the Microsoft Agent Framework that stands for a remote one."""

from importlib.metadata import version

import agent as framework
import httpx

from a2a.client import A2ACardResolver
from agent_framework import AgentSession, Content, Message
from agent_framework_a2a import A2AAgent, A2AContinuationToken


CLIENT = f'agent-framework-a2a {version("agent-framework-a2a")}'
DIALECT = '1.0'
BINDINGS = {'': 'JSONRPC'}


async def connect(hubs, name, protocol, http):
    url = f'{hubs[""]}/agents/{name}'
    async with httpx.AsyncClient() as cards:
        return Agent(url, await A2ACardResolver(cards, url).get_agent_card())


class Agent(framework.Agent):
    def __init__(self, url, card):
        super().__init__(url)
        self._remote = A2AAgent(agent_card=card)

    async def card(self):
        return self._remote.name

    async def converse(self, *texts):
        session = AgentSession()
        return [(await self._remote.run(text, session=session)).text for text in texts]

    async def send_file(self, text, name, media_type, content):
        return await self._send(text, Content.from_data(content, media_type))

    async def send_link(self, text, url, media_type):
        return await self._send(text, Content.from_uri(url, media_type=media_type))

    async def stream(self, text):
        return [update.text async for update in self._remote.run(text, stream=True) if update.text]

    async def start(self, text):
        return (await self._remote.run(text, background=True)).continuation_token['task_id']

    async def get(self, task_id):
        response = await self._remote.poll_task(_token(task_id))
        return 'input-required' if response.user_input_requests else 'completed'

    async def subscribe(self, task_id):
        updates = self._remote.run(continuation_token=_token(task_id), stream=True)
        return [update.text async for update in updates if update.text]

    async def _send(self, text, file):
        message = Message(role='user', contents=[Content.from_text(text), file])
        return (await self._remote.run(message)).text


def _token(task_id):
    return A2AContinuationToken(task_id=task_id, context_id='')
