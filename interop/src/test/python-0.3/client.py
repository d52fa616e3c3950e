"""How this release of the SDK does what `operations` wants."""

from a2a.client import A2ACardResolver, A2AClientHTTPError, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientJSONRPCError
from a2a.types import GetTaskPushNotificationConfigParams, Message, TaskIdParams, TaskQueryParams
from offered import NotOffered


DIALECT = '0.3'
BINDINGS = {'jsonrpc': 'JSONRPC', 'rest': 'HTTP+JSON'}

# Over REST the SDK shows no more of an error than its HTTP status.
CODES = {404: -32001, 409: -32002, 501: -32004}


async def connect(url, protocol, http):
    card = await A2ACardResolver(http, url).get_agent_card()
    return Agent(card, protocol, http)


class Agent:
    def __init__(self, card, protocol, http):
        self._card = card
        self._how = {'httpx_client': http, 'supported_transports': [protocol], 'use_client_preference': True}
        self._waiting = self._client(streaming=False)
        self._streaming = self._client(streaming=True)

    async def card(self):
        return await self._waiting.get_card()

    async def send(self, message, blocking=True, push_config=None):
        client = self._client(
            streaming=False, polling=not blocking, push_notification_configs=[push_config] if push_config else []
        )
        [event] = [event async for event in client.send_message(message)]
        return event if isinstance(event, Message) else event[0]

    async def stream(self, message):
        async for event in self._streaming.send_message(message):
            yield _bare(event)

    async def get(self, task_id, history_length=None):
        return await self._waiting.get_task(TaskQueryParams(id=task_id, history_length=history_length))

    async def cancel(self, task_id):
        return await self._waiting.cancel_task(TaskIdParams(id=task_id))

    async def resubscribe(self, task_id):
        async for event in self._streaming.resubscribe(TaskIdParams(id=task_id)):
            yield _bare(event)

    async def set_push_config(self, config):
        return await self._waiting.set_task_callback(config)

    async def get_push_config(self, task_id, config_id):
        params = GetTaskPushNotificationConfigParams(id=task_id, push_notification_config_id=config_id)
        return await self._waiting.get_task_callback(params)

    async def list_push_configs(self, task_id):
        raise NotOffered('the client has no such method')

    async def delete_push_config(self, task_id, config_id):
        raise NotOffered('the client has no such method')

    def _client(self, **more):
        return ClientFactory(ClientConfig(**self._how, **more)).create(self._card)


def code_of(failure):
    """The code of the error that a call has ended with; None if the client does not let it through."""
    if isinstance(failure, A2AClientJSONRPCError):
        return failure.error.code
    if isinstance(failure, A2AClientHTTPError):
        return CODES.get(failure.status_code)
    raise failure


def _bare(event):
    """The event as it came, without the task that the client has made of all of them."""
    if isinstance(event, Message):
        return event
    task, update = event
    return update or task
