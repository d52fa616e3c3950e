"""The Rust client, called by the program in `src`."""

import base64
import json
import re
import uuid

from pathlib import Path

from commands import CommandLineAgent, state_of, text_of, texts_of


CLIENT = 'a2a-client-lf ' + re.search(r'a2a-client-lf", version = "=(.+?)"', Path('Cargo.toml').read_text())[1]
DIALECT = '1.0'
BINDINGS = {'': None}


async def connect(hubs, name, protocol, http):
    return Agent(f'{hubs[""]}/agents/{name}')


class Agent(CommandLineAgent):
    async def card(self):
        [card] = await self._call('card')
        return card['name']

    async def converse(self, *texts):
        answers, more = [], {}
        for text in texts:
            [answer] = await self._call('send', message=_message({'text': text}, **more))
            answers.append(text_of(answer))
            task = answer.get('task')
            more = {'taskId': task['id'], 'contextId': task['contextId']} if task else {}
        return answers

    async def send_file(self, text, name, media_type, content):
        file = {'raw': base64.b64encode(content).decode(), 'filename': name, 'mediaType': media_type}
        return text_of(await self._call('send', message=_message({'text': text}, file)))

    async def send_link(self, text, url, media_type):
        file = {'url': url, 'mediaType': media_type}
        return text_of(await self._call('send', message=_message({'text': text}, file)))

    async def stream(self, text):
        return await self._streamed('artifactUpdate', text)

    async def progress(self, text):
        return await self._streamed('statusUpdate', text)

    async def start(self, text):
        message = _message({'text': text})
        [answer] = await self._call('send', message=message, configuration={'returnImmediately': True})
        return answer['task']['id']

    async def get(self, task_id):
        [task] = await self._call('get', id=task_id)
        return state_of(task)

    async def list(self):
        [page] = await self._call('list', status='TASK_STATE_INPUT_REQUIRED')
        return [task['id'] for task in page['tasks']]

    async def cancel(self, task_id):
        [task] = await self._call('cancel', id=task_id)
        return state_of(task)

    async def subscribe(self, task_id):
        return texts_of(await self._call('subscribe', id=task_id))

    async def webhook(self, text, url):
        configuration = {'taskPushNotificationConfig': {'url': url}}
        await self._call('send', message=_message({'text': text}), configuration=configuration)

    async def set_push_config(self, task_id, url):
        [config] = await self._call('push-create', taskId=task_id, url=url)
        return config['id']

    async def push_configs(self, task_id):
        [page] = await self._call('push-list', taskId=task_id)
        return {config['id']: config['url'] for config in page.get('configs', [])}

    async def delete_push_config(self, task_id, config_id):
        await self._call('push-delete', taskId=task_id, id=config_id)

    async def _streamed(self, kind, text):
        events = await self._call('stream', message=_message({'text': text}))
        return texts_of([event for event in events if kind in event])

    async def _call(self, method, **request):
        return await self.run('target/debug/driver', method, self.url, json.dumps(request))


def _message(*parts, **more):
    return {'messageId': uuid.uuid4().hex, 'role': 'ROLE_USER', 'parts': list(parts), **more}
