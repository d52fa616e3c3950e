"""The agent of `serve`, as this release of the SDK has it."""

import asyncio

import grpc.aio
import httpx

from a2a.helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandlerV2, GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from a2a.types.a2a_pb2_grpc import add_A2AServiceServicer_to_server
from client import BINDINGS
from starlette.applications import Starlette


class Agent(AgentExecutor):
    def __init__(self):
        self._stopped = set()

    async def execute(self, context, event_queue):
        updates = TaskUpdater(event_queue, context.task_id, context.context_id)
        text = context.get_user_input()
        if text == 'talk':
            await event_queue.enqueue_event(updates.new_agent_message([new_text_part('hello')]))
            return
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        await updates.start_work()
        match text:
            case 'count':
                for said in ['1', '2', '3']:
                    await updates.start_work(updates.new_agent_message([new_text_part(said)]))
                await updates.add_artifact([new_text_part('one')], 'a', append=False, last_chunk=False)
                await updates.add_artifact([new_text_part('two')], 'a', append=True, last_chunk=True)
                await updates.complete()
            case 'ask':
                await updates.requires_input(updates.new_agent_message([new_text_part('What?')]))
            case 'fail':
                await updates.failed(updates.new_agent_message([new_text_part('No luck')]))
            case 'wait':
                while not {context.context_id, context.task_id} & self._stopped:
                    await updates.start_work(updates.new_agent_message([new_text_part('...')]))
                    await asyncio.sleep(0.1)
                if context.context_id in self._stopped:
                    await updates.complete()
            case _:
                if text == 'stop':
                    self._stopped.add(context.context_id)
                await updates.add_artifact(list(context.message.parts))
                await updates.complete()

    async def cancel(self, context, event_queue):
        self._stopped.add(context.task_id)
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


async def application(url):
    """Returns what answers at the URL, and the other origins that its card leads to."""
    rpc_server = grpc.aio.server()
    rpc_port = rpc_server.add_insecure_port('127.0.0.1:0')
    urls = {'jsonrpc': url, 'rest': f'{url}/rest', 'grpc': f'127.0.0.1:{rpc_port}'}
    card = AgentCard(
        name='handyman',
        description='Does what the text says',
        version='1.0.0',
        supported_interfaces=[
            AgentInterface(url=urls[name], protocol_binding=binding, protocol_version='1.0')
            for name, binding in BINDINGS.items()
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=['text/plain', 'text/csv'],
        default_output_modes=['text/plain', 'text/csv'],
        skills=[AgentSkill(id='do', name='Do', description='Does it', tags=['test'])],
    )
    configs = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandlerV2(
        Agent(),
        InMemoryTaskStore(),
        card,
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
    )
    add_A2AServiceServicer_to_server(GrpcHandler(handler), rpc_server)
    await rpc_server.start()
    routes = [
        *create_agent_card_routes(card),
        *create_rest_routes(handler, path_prefix='/rest'),
        *create_jsonrpc_routes(handler, '/'),
    ]
    app = Starlette(routes=routes)
    app.state.rpc_server = rpc_server  # it stops as soon as nobody holds it
    return app, [f'http://{urls["grpc"]}']
