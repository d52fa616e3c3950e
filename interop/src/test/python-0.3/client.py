"""How this release of the SDK does what `operations` wants."""

from importlib.metadata import version

import grpc.aio

from a2a.client import A2ACardResolver, A2AClientHTTPError, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientJSONRPCError
from a2a.types import GetTaskPushNotificationConfigParams, Message, TaskIdParams, TaskQueryParams
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from offered import NotOffered


CLIENT = f'Python {version("a2a-sdk")}'
DIALECT = '0.3'
BINDINGS = {'jsonrpc': 'JSONRPC', 'rest': 'HTTP+JSON', 'grpc': 'GRPC'}

# Over REST the SDK shows no more of an error than its HTTP status.
CODES = {404: -32001, 409: -32002, 501: -32004}

# Over gRPC it shows the error of the library below it.
REASONS = {'TASK_NOT_FOUND': -32001, 'TASK_NOT_CANCELABLE': -32002, 'UNSUPPORTED_OPERATION': -32004}


async def connect(hubs, name, protocol, http):
    # Cards of this version have gRPC for the default agent only.
    url = hubs[name] if protocol == 'GRPC' else f'{hubs[""]}/agents/{name}'
    card = await A2ACardResolver(http, url).get_agent_card()
    return Agent(card, protocol, http)


class Agent:
    def __init__(self, card, protocol, http):
        self._card = card
        self._how = {
            'httpx_client': http,
            'grpc_channel_factory': grpc.aio.insecure_channel,
            'supported_transports': [protocol],
            'use_client_preference': True,
        }
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
    if isinstance(failure, grpc.aio.AioRpcError):
        info = ErrorInfo()
        Status.FromString(dict(failure.trailing_metadata())['grpc-status-details-bin']).details[0].Unpack(info)
        return REASONS[info.reason]
    raise failure


def _bare(event):
    """The event as it came, without the task that the client has made of all of them."""
    if isinstance(event, Message):
        return event
    task, update = event
    return update or task
