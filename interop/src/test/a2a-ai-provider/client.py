"""The provider of A2A agents for the AI SDK, called by `call.mjs`."""

import base64
import json

from pathlib import Path

from commands import CommandLineAgent


CLIENT = 'a2a-ai-provider ' + json.loads(Path('package.json').read_text())['dependencies']['a2a-ai-provider']
DIALECT = '0.3'
BINDINGS = {'': None}


async def connect(hubs, name, protocol, http):
    return Agent(f'{hubs[""]}/agents/{name}')


class Agent(CommandLineAgent):
    async def send(self, text):
        return await self._call('generate', text)

    async def send_file(self, text, name, media_type, content):
        file = {'base64': base64.b64encode(content).decode(), 'filename': name, 'mediaType': media_type}
        return await self._call('generate', text, {'type': 'file', **file})

    async def send_link(self, text, url, media_type):
        return await self._call('generate', text, {'type': 'file', 'url': url, 'mediaType': media_type})

    async def stream(self, text):
        return await self._call('stream', text)

    async def _call(self, how, text, *files):
        content = json.dumps([{'type': 'text', 'text': text}, *files])
        [result] = await self.run('node', 'call.mjs', how, f'{self.url}/.well-known/agent-card.json', content)
        return result
