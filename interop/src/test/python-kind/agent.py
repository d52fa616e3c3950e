"""The agent of `serve`, as releases of the SDK before 1.0 have it."""

import asyncio

import httpx

from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TextPart
from a2a.utils import new_task


class Agent(AgentExecutor):
    def __init__(self):
        self._stopped = set()

    async def execute(self, context, event_queue):
        text = context.get_user_input()
        task = context.current_task or new_task(context.message)
        updates = TaskUpdater(event_queue, task.id, getattr(task, 'context_id', None) or task.contextId)
        if text == 'talk':
            await event_queue.enqueue_event(updates.new_agent_message([said('hello')]))
            return
        if context.current_task is None:
            await event_queue.enqueue_event(task)
        await updates.start_work()
        match text:
            case 'count':
                for number in ['1', '2', '3']:
                    await updates.start_work(updates.new_agent_message([said(number)]))
                await updates.add_artifact([said('one')], 'a', append=False, last_chunk=False)
                await updates.add_artifact([said('two')], 'a', append=True, last_chunk=True)
                await updates.complete()
            case 'ask':
                await updates.requires_input(updates.new_agent_message([said('What?')]), final=True)
            case 'fail':
                await updates.failed(updates.new_agent_message([said('No luck')]))
            case 'wait':
                while not {context.context_id, context.task_id} & self._stopped:
                    await updates.start_work(updates.new_agent_message([said('...')]))
                    await asyncio.sleep(0.1)
                if context.context_id in self._stopped:
                    await updates.complete()
            case _:
                if text == 'stop':
                    self._stopped.add(context.context_id)
                await updates.add_artifact(context.message.parts)
                await updates.complete()

    async def cancel(self, context, event_queue):
        self._stopped.add(context.task_id)
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card(url, **more):
    return AgentCard(
        name='handyman',
        description='Does what the text says',
        version='1.0.0',
        url=url,
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=['text/plain', 'text/csv'],
        default_output_modes=['text/plain', 'text/csv'],
        skills=[AgentSkill(id='do', name='Do', description='Does it', tags=['test'])],
        **more,
    )


def handler():
    configs = InMemoryPushNotificationConfigStore()
    return DefaultRequestHandler(
        Agent(),
        InMemoryTaskStore(),
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
    )


def json_rpc(card, handler):
    return A2AStarletteApplication(card, handler).build()


def said(text):
    return Part(root=TextPart(text=text))
