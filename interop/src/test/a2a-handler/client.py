"""The command line of a2a-handler."""

import tempfile

from importlib.metadata import version
from pathlib import Path

from commands import CommandLineAgent, state_of, text_of, texts_of


CLIENT = f'a2a-handler {version("a2a-handler")}'
DIALECT = '1.0'
BINDINGS = {'': None}


async def connect(hubs, name, protocol, http):
    return Agent(f'{hubs[""]}/agents/{name}')


class Agent(CommandLineAgent):
    # Its saved conversations stay with this run.
    environment = {'HOME': tempfile.mkdtemp(), 'XDG_CONFIG_HOME': '', 'XDG_DATA_HOME': '', 'XDG_STATE_HOME': ''}

    async def card(self):
        [card] = await self._call('card', 'get')
        return card['name']

    async def converse(self, *texts):
        answers, more = [], []
        for text in texts:
            [task] = await self._call('message', 'send', '--text', text, *more)
            answers.append(text_of(task))
            more = ['--task-id', task['id'], '--context-id', task['contextId']] if 'status' in task else []
        return answers

    async def send_file(self, text, name, media_type, content):
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory, name)
            file.write_bytes(content)
            return text_of(await self._call('message', 'send', '--text', text, '--file', str(file)))

    async def send_link(self, text, url, media_type):
        return text_of(await self._call('message', 'send', '--text', text, '--file', url))

    async def stream(self, text):
        return await self._streamed('artifact', text)

    async def progress(self, text):
        return await self._streamed('status', text)

    async def start(self, text):
        [task] = await self._call('message', 'send', '--text', text, '--no-wait')
        return task['id']

    async def get(self, task_id):
        [task] = await self._call('task', 'get', task_id)
        return state_of(task)

    async def list(self):
        return [task['id'] for task in await self._call('task', 'list', '--status', 'input_required')]

    async def cancel(self, task_id):
        [task] = await self._call('task', 'cancel', task_id)
        return state_of(task)

    async def subscribe(self, task_id):
        return texts_of(await self._call('task', 'resubscribe', task_id))

    async def webhook(self, text, url):
        await self._call('message', 'send', '--text', text, '--push-url', url)

    async def set_push_config(self, task_id, url):
        [config] = await self._call('task', 'notification', 'set', task_id, '--webhook-url', url)
        return config['id']

    async def push_configs(self, task_id):
        [page] = await self._call('task', 'notification', 'list', task_id)
        return {config['id']: config['url'] for config in page['configs']}

    async def delete_push_config(self, task_id, config_id):
        await self._call('task', 'notification', 'remove', task_id, '--config-id', config_id)

    async def _streamed(self, kind, text):
        events = await self._call('message', 'stream', '--text', text)
        return [event['text'] for event in events if event['type'] == kind and 'text' in event]

    async def _call(self, *arguments):
        return await self.run('./venv/bin/handler', '--output', 'ndjson', *arguments, '--url', self.url)
