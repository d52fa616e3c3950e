"""How this release of the SDK does what `operations` wants."""

from importlib.metadata import version
from uuid import uuid4

from a2a.client import A2ACardResolver, A2AClient
from a2a.types import (
    CancelTaskRequest,
    GetTaskPushNotificationConfigParams,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    MessageSendConfiguration,
    MessageSendParams,
    SendMessageRequest,
    SendStreamingMessageRequest,
    SetTaskPushNotificationConfigRequest,
    TaskIdParams,
    TaskQueryParams,
)
from offered import NotOffered


CLIENT = f'Python {version("a2a-sdk")}'
DIALECT = '0.2'
BINDINGS = {'jsonrpc': 'JSONRPC'}


async def connect(hubs, name, protocol, http):
    card = await A2ACardResolver(http, f'{hubs[""]}/agents/{name}').get_agent_card()
    return Agent(card, A2AClient(http, card))


class Agent:
    def __init__(self, card, client):
        self._card = card
        self._client = client

    async def card(self):
        return self._card

    async def send(self, message, blocking=True, push_config=None):
        configuration = MessageSendConfiguration(
            accepted_output_modes=[], blocking=blocking, push_notification_config=push_config
        )
        params = MessageSendParams(message=message, configuration=configuration)
        return _result(await self._client.send_message(SendMessageRequest(id=_id(), params=params)))

    async def stream(self, message):
        request = SendStreamingMessageRequest(id=_id(), params=MessageSendParams(message=message))
        async for answer in self._client.send_message_streaming(request):
            yield _result(answer)

    async def get(self, task_id, history_length=None):
        params = TaskQueryParams(id=task_id, history_length=history_length)
        return _result(await self._client.get_task(GetTaskRequest(id=_id(), params=params)))

    async def cancel(self, task_id):
        params = TaskIdParams(id=task_id)
        return _result(await self._client.cancel_task(CancelTaskRequest(id=_id(), params=params)))

    async def resubscribe(self, task_id):
        raise NotOffered('the client has no such method')
        yield

    async def set_push_config(self, config):
        request = SetTaskPushNotificationConfigRequest(id=_id(), params=config)
        return _result(await self._client.set_task_callback(request))

    async def get_push_config(self, task_id, config_id):
        params = GetTaskPushNotificationConfigParams(id=task_id, push_notification_config_id=config_id)
        request = GetTaskPushNotificationConfigRequest(id=_id(), params=params)
        return _result(await self._client.get_task_callback(request))

    async def list_push_configs(self, task_id):
        raise NotOffered('the client has no such method')

    async def delete_push_config(self, task_id, config_id):
        raise NotOffered('the client has no such method')


class Refused(Exception):
    def __init__(self, error):
        super().__init__(error.message)
        self.code = error.code


def code_of(failure):
    """The code of the error that a call has ended with."""
    if isinstance(failure, Refused):
        return failure.code
    raise failure


def _id():
    return str(uuid4())


def _result(answer):
    if hasattr(answer.root, 'error'):
        raise Refused(answer.root.error)
    return answer.root.result
