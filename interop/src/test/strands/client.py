"""The agent of Strands Agents that stands for a remote one."""

import agent as framework

from importlib.metadata import version

from strands.agent.a2a_agent import A2AAgent
from updates import texts_of


CLIENT = f'strands-agents {version("strands-agents")}'
DIALECT = '0.3'
BINDINGS = {'': 'JSONRPC'}


async def connect(hubs, name, protocol, http):
    return Agent(f'{hubs[""]}/agents/{name}')


class Agent(framework.Agent):
    async def card(self):
        return (await A2AAgent(self.url).get_agent_card()).name

    async def send(self, text):
        return _text_of(await A2AAgent(self.url).invoke_async(text))

    async def stream(self, text):
        return await self._streamed('artifact', text)

    async def progress(self, text):
        return await self._streamed('status', text)

    async def _streamed(self, kind, text):
        texts = []
        async for event in A2AAgent(self.url).stream_async(text):
            if event.get('type') == 'a2a_stream' and isinstance(event['event'], tuple):
                texts += texts_of(kind, event['event'][1])
        return texts


def _text_of(result):
    return '\n'.join(block['text'] for block in result.message['content'])
