"""The agent of `serve`, as the server library of AgentVault has it. Here, a stop is a message to the task itself."""

import asyncio
import uuid
from collections import defaultdict

from agentvault.models import (
    Artifact,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatusUpdateEvent,
    TextPart,
)
from agentvault_server_sdk import BaseA2AAgent, InMemoryTaskStore, TaskNotFoundError, create_a2a_router
from agentvault_server_sdk.fastapi_integration import task_not_found_handler, validation_exception_handler
from fastapi import FastAPI
from pydantic import ValidationError


ENDED = [TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED]


class Agent(BaseA2AAgent):
    def __init__(self, store):
        super().__init__()
        self._store = store
        self._messages = defaultdict(list)
        self._artifacts = defaultdict(dict)
        self._watched = defaultdict(asyncio.Event)
        self._work = {}

    async def handle_task_send(self, task_id, message):
        if task_id is None:
            task_id = str(uuid.uuid4())
            await self._store.create_task(task_id)
        await self._context(task_id)
        await self._say(task_id, message)
        if (before := self._work.get(task_id)) is not None:
            before.cancel()
        self._work[task_id] = asyncio.create_task(self._do(task_id, message))
        return task_id

    async def handle_task_get(self, task_id):
        context = await self._context(task_id)
        return Task(
            id=task_id,
            state=context.current_state,
            createdAt=context.created_at,
            updatedAt=context.updated_at,
            messages=self._messages[task_id],
            artifacts=list(self._artifacts[task_id].values()),
        )

    async def handle_task_cancel(self, task_id):
        if (await self._context(task_id)).current_state in ENDED:
            return False
        self._work[task_id].cancel()
        await self._store.update_task_state(task_id, TaskState.CANCELED)
        return True

    async def handle_subscribe_request(self, task_id):
        context = await self._context(task_id)
        events = asyncio.Queue()
        await self._store.add_listener(task_id, events)
        for artifact in self._artifacts[task_id].values():
            await events.put(artifact_event(task_id, artifact, context))
        state = context.current_state
        await events.put(TaskStatusUpdateEvent(task_id=task_id, state=state, timestamp=context.updated_at))
        self._watched[task_id].set()
        try:
            while True:
                event = await events.get()
                yield event
                if isinstance(event, TaskStatusUpdateEvent) and event.state in ENDED:
                    return
        finally:
            await self._store.remove_listener(task_id, events)

    async def _context(self, task_id):
        context = await self._store.get_task(task_id)
        if context is None:
            raise TaskNotFoundError(task_id)
        return context

    async def _do(self, task_id, message):
        await self._store.update_task_state(task_id, TaskState.WORKING)
        match message.parts[0].content:
            case 'count':
                await self._watched[task_id].wait()  # who comes later does not hear what was said
                for said in ['1', '2', '3']:
                    await self._say(task_id, spoken(said))
                await self._make(task_id, Artifact(id='a', type='text', content='one'))
                await self._make(task_id, Artifact(id='a', type='text', content='one\ntwo'))
            case 'ask':
                await self._say(task_id, spoken('What?'))
                await self._store.update_task_state(task_id, TaskState.INPUT_REQUIRED)
                return
            case 'wait':
                while True:
                    await self._say(task_id, spoken('...'))
                    await asyncio.sleep(0.1)
            case _:
                for number, part in enumerate(message.parts):
                    await self._make(task_id, artifact(str(number), part))
        await self._store.update_task_state(task_id, TaskState.COMPLETED)

    async def _say(self, task_id, message):
        self._messages[task_id].append(message)
        await self._store.notify_message_event(task_id, message)

    async def _make(self, task_id, artifact):
        self._artifacts[task_id][artifact.id] = artifact
        await self._store.notify_artifact_event(task_id, artifact)


def spoken(text):
    return Message(role='assistant', parts=[TextPart(content=text)])


def artifact(name, part):
    if part.type == 'file':
        return Artifact(id=name, type='file', url=part.url, mediaType=part.media_type)
    return Artifact(id=name, type=part.type, content=part.content)


def artifact_event(task_id, artifact, context):
    return TaskArtifactUpdateEvent(task_id=task_id, artifact=artifact, timestamp=context.updated_at)


async def application(url):
    """Returns what answers at the URL, and the other origins that its card leads to."""
    origin = url.replace('127.0.0.1', 'localhost')  # no other name of this machine is allowed in a card
    card = {
        'schemaVersion': '1.0',
        'humanReadableId': 'test/handyman',
        'agentVersion': '1.0.0',
        'name': 'handyman',
        'description': 'Does what the text says',
        'url': f'{origin}/a2a',
        'provider': {'name': 'test'},
        'capabilities': {'a2aVersion': '0.2', 'supportedMessageParts': ['text', 'file', 'data']},
        'authSchemes': [{'scheme': 'none'}],
        'skills': [{'id': 'do', 'name': 'Do', 'description': 'Does it'}],
    }
    store = InMemoryTaskStore()
    app = FastAPI()
    app.add_api_route('/.well-known/agent.json', lambda: card)
    app.include_router(create_a2a_router(Agent(store), prefix='/a2a', task_store=store))
    # As its manual wants it, without which all errors are those of HTTP.
    app.add_exception_handler(TaskNotFoundError, task_not_found_handler)
    for error in [ValueError, TypeError, ValidationError]:
        app.add_exception_handler(error, validation_exception_handler)
    return app, [origin]
