"""The agent of the BeeAI framework that stands for a remote one."""

import base64
import logging
import uuid

from importlib.metadata import version

import agent as framework

from a2a.types import FilePart, FileWithBytes, FileWithUri, Message, Part, Role, TextPart
from beeai_framework.adapters.a2a.agents import A2AAgent
from beeai_framework.memory import UnconstrainedMemory
from updates import texts_of


CLIENT = f'beeai-framework {version("beeai-framework")}'
DIALECT = '0.3'
BINDINGS = {'': 'JSONRPC'}

logging.disable()


async def connect(hubs, name, protocol, http):
    return Agent(f'{hubs[""]}/agents/{name}')


class Agent(framework.Agent):
    async def card(self):
        remote = self._remote()
        await remote.check_agent_exists()
        return remote.name

    async def converse(self, *texts):
        remote = self._remote()
        return [await _answer_of(remote, text) for text in texts]

    async def send_file(self, text, name, media_type, content):
        file = FileWithBytes(bytes=base64.b64encode(content).decode(), mime_type=media_type, name=name)
        return await _answer_of(self._remote(), _message(text, file))

    async def send_link(self, text, url, media_type):
        return await _answer_of(self._remote(), _message(text, FileWithUri(uri=url, mime_type=media_type)))

    async def stream(self, text):
        return await self._streamed('artifact', text)

    async def progress(self, text):
        return await self._streamed('status', text)

    async def _streamed(self, kind, text):
        texts = []
        await self._remote().run(text).on('update', lambda data, _: texts.extend(texts_of(kind, data.value[1])))
        return texts

    def _remote(self):
        return A2AAgent(url=self.url, memory=UnconstrainedMemory())


async def _answer_of(remote, message):
    """The text of all artifacts: the output is the last one, the memory has them all."""
    known = len(remote.memory.messages)
    await remote.run(message)
    return '\n'.join(one.text for one in remote.memory.messages[known + 1 :])


def _message(text, file):
    parts = [Part(root=TextPart(text=text)), Part(root=FilePart(file=file))]
    return Message(role=Role.user, message_id=uuid.uuid4().hex, parts=parts)
