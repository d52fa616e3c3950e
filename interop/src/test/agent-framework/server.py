"""An agent of the Microsoft Agent Framework without a model, served by its `A2AExecutor`."""

import asyncio

from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from agent_framework import AgentResponse, AgentResponseUpdate, BaseAgent, Content, ResponseStream
from agent_framework_a2a import A2AExecutor
from starlette.applications import Starlette


# The executor passes texts on, and completes every task.
LACKS = ['send a file', 'send the URL of a file', 'question and answer', 'push configs']


async def application(url):
    card = AgentCard(
        name='handyman',
        description='Does what it is told',
        version='1.0.0',
        supported_interfaces=[AgentInterface(url=url, protocol_binding='JSONRPC', protocol_version='1.0')],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[AgentSkill(id='do', name='Do', description='Does it', tags=['test'])],
    )
    agent = Handyman(name='handyman', description='Does what it is told')
    executor = A2AExecutor(agent, stream=True)
    handler = DefaultRequestHandler(agent_executor=executor, task_store=InMemoryTaskStore(), agent_card=card)
    return Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, '/')]), []


class Handyman(BaseAgent):
    """Counts, waits until it is canceled, or returns the text that it was sent."""

    def run(self, messages=None, *, stream=False, session=None, **more):
        return ResponseStream(self._updates(messages), finalizer=AgentResponse.from_updates)

    async def _updates(self, text):
        def update(said):
            return AgentResponseUpdate(contents=[Content.from_text(said)], role='assistant')

        if text == 'count':
            for number in ['1', '2', '3']:
                yield update(number)
        elif text == 'wait':
            yield update('waiting')
            await asyncio.Event().wait()
        else:
            yield update(text)
