"""The command line of the Go SDK."""

import base64
import json
import re

from pathlib import Path

from commands import CommandLineAgent, state_of, text_of, texts_of


CLIENT = 'a2a-go CLI ' + re.search(r'a2a-go/v2 v(\S+)', Path('go.mod').read_text())[1]
DIALECT = '1.0'
BINDINGS = {'': None}


async def connect(hubs, name, protocol, http):
    return Agent(f'{hubs[""]}/agents/{name}')


class Agent(CommandLineAgent):
    async def card(self):
        [card] = await self._call('discover')
        return card['name']

    async def converse(self, *texts):
        answers, more = [], []
        for text in texts:
            [task] = await self._call('send', text, *more)
            answers.append(text_of(task))
            more = ['--task', task['id'], '--context', task['contextId']] if 'status' in task else []
        return answers

    async def send_file(self, text, name, media_type, content):
        file = {'raw': base64.b64encode(content).decode(), 'filename': name, 'mediaType': media_type}
        return await self._send_parts({'text': text}, file)

    async def send_link(self, text, url, media_type):
        return await self._send_parts({'text': text}, {'url': url, 'mediaType': media_type})

    async def stream(self, text):
        return await self._streamed('artifactUpdate', text)

    async def progress(self, text):
        return await self._streamed('statusUpdate', text)

    async def start(self, text):
        [task] = await self._call('send', '--immediate', text)
        return task['id']

    async def get(self, task_id):
        [task] = await self._call('get', 'task', task_id)
        return state_of(task)

    async def list(self):
        [page] = await self._call('list', 'tasks', '--status', 'input-required')
        return [task['id'] for task in page['tasks']]

    async def cancel(self, task_id):
        [task] = await self._call('cancel', task_id)
        return state_of(task)

    async def subscribe(self, task_id):
        return texts_of(await self._call('subscribe', task_id))

    async def _streamed(self, kind, text):
        events = await self._call('send', '--stream', text)
        return texts_of([event for event in events if kind in event])

    async def _send_parts(self, *parts):
        return text_of(await self._call('send', '--parts', json.dumps(parts)))

    async def _call(self, verb, *arguments):
        # The URL comes before the other arguments, and after the noun that some verbs have.
        noun = arguments[:1] if verb in ('get', 'list') else ()
        return await self.run('./a2a', verb, *noun, self.url, *arguments[len(noun) :], '--output', 'json')
