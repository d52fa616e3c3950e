"""What is done with each agent, one function for each row of the table of results, with the AgentVault library.

A function gets each agent, returns a few words about what it saw, and raises if that is not what the profile promises.
"""

from contextlib import asynccontextmanager

import httpx

from agentvault.exceptions import A2AAuthenticationError, A2ARemoteAgentError
from agentvault.models import (
    A2AEvent,
    Message,
    TaskArtifactUpdateEvent,
    TaskMessageEvent,
    TaskState,
    TaskStatusUpdateEvent,
    TextPart,
)
from client import NO_KEYS, WRONG_KEYS
from offered import NotOffered
from pydantic import TypeAdapter
from webhook import Webhook


AGENTS = ['analyst', 'chatty', 'counter', 'echo', 'interview', 'ping']

NOT_FOUND = -32001


async def card(counter, **_):
    equal(counter.card.name, 'counter')
    equal(counter.card.human_readable_id, 'parley/counter')
    equal(counter.card.capabilities.supports_push_notifications, True)
    equal(counter.card.skills[0].id, 'count')
    return f'{counter.card.human_readable_id} {counter.card.agent_version}'


async def send(echo, **_):
    context = {'items': {'note': {'mediaType': 'text/plain', 'content': 'remember'}}}
    task_id = await echo.initiate(message('Grüße, 世界 🌍'), mcp_context=context)
    task = await ended(echo, task_id)
    equal(task.state, TaskState.COMPLETED)
    equal([artifact.content for artifact in task.artifacts], ['Grüße, 世界 🌍'])
    equal(task.messages[0].metadata['mcp_context']['items']['note']['content'], 'remember')
    return task.artifacts[0].content


async def send_for_message(ping, **_):
    task = await ended(ping, await ping.initiate(message('hello')))
    equal(task.state, TaskState.COMPLETED)
    equal(texts(task.messages), ['hello', 'pong: hello'])
    return 'the message of a task that has ended'


async def receive_files(analyst, **_):
    table = 'city,people\nOslo,709000\nBergen,291000\n'
    task = await ended(analyst, await analyst.initiate(message(table)))
    equal(task.state, TaskState.COMPLETED)
    chart = next(artifact for artifact in task.artifacts if artifact.media_type == 'image/png')
    async with httpx.AsyncClient() as http:
        equal((await http.get(str(chart.url))).content[1:4], b'PNG')
        forged = str(chart.url)[:-4] + 'AAAA'
        equal((await http.get(forged)).status_code, 403)
    return 'an address that is signed'


async def send_again(interview, **_):
    task_id = await interview.initiate(message('hello'))
    for answer in ['Ada', 'tea']:
        await until(interview, task_id, lambda event: state(event) == TaskState.INPUT_REQUIRED)
        equal(await interview.send(task_id, message(answer)), True)
    task = await ended(interview, task_id)
    equal(task.state, TaskState.COMPLETED)
    equal(task.artifacts[0].content, 'Name: Ada\nWish: tea\n')
    return f'{len(task.messages)} messages'


async def stream(counter, **_):
    events = await collect(counter, await counter.initiate(message('3')))
    equal([state(event) for event in events].count(TaskState.WORKING) >= 3, True)
    equal([event.artifact.content for event in events if isinstance(event, TaskArtifactUpdateEvent)], ['Counted to 3.'])
    equal(state(events[-1]), TaskState.COMPLETED)
    return f'{len(events)} events'


async def long_stream(chatty, **_):
    events = await collect(chatty, await chatty.initiate(message('2000')))
    said = texts([event.message for event in events if isinstance(event, TaskMessageEvent)])
    # The agent does not wait for the stream, which shows what is said from then on.
    later = [int(text.split()[0]) for text in said[1:]]
    equal(later, list(range(2001 - len(later), 2001)))
    return f'{len(events)} events'


async def late_stream(echo, **_):
    task_id = await echo.initiate(message('hello'))
    await ended(echo, task_id)
    events = await collect(echo, task_id)
    equal([state(event) for event in events if isinstance(event, TaskStatusUpdateEvent)], [TaskState.COMPLETED])
    equal([event.artifact.content for event in events if isinstance(event, TaskArtifactUpdateEvent)], ['hello'])
    return f'{len(events)} events'


async def get(interview, **_):
    task_id = await interview.initiate(message('hello'))
    await until(interview, task_id, lambda event: state(event) == TaskState.INPUT_REQUIRED)
    task = await interview.get(task_id)
    equal((task.id, task.state), (task_id, TaskState.INPUT_REQUIRED))
    equal(texts(task.messages), ['hello', 'What is your name?'])
    equal(task.created_at <= task.updated_at, True)
    return f'{len(task.messages)} messages'


async def cancel(counter, **_):
    async with counting(counter) as task_id:
        equal((await counter.get(task_id)).state in (TaskState.SUBMITTED, TaskState.WORKING), True)
    equal((await counter.get(task_id)).state, TaskState.CANCELED)
    return TaskState.CANCELED


async def webhook(counter, **_):
    with Webhook(TypeAdapter(A2AEvent).validate_python) as hook:
        task_id = await counter.initiate(message('2'), webhook_url=hook.url)
        await hook.until(lambda event: state(event) == TaskState.COMPLETED)
        for headers, event in hook.received:
            equal(headers['X-AgentVault-Event'], 'task_status')
            equal(event.task_id, task_id)
        return f'{len(hook.received)} events'


async def credentials(echo, **_):
    schemes = [scheme.scheme for scheme in echo.card.auth_schemes]
    if schemes == ['none']:
        raise NotOffered('the card asks for none')
    await refused(echo.with_keys(NO_KEYS).initiate(message('hello')), A2AAuthenticationError)
    wrong = A2ARemoteAgentError if schemes == ['apiKey'] else A2AAuthenticationError
    failure = await refused(echo.with_keys(WRONG_KEYS).initiate(message('hello')), wrong)
    equal('401' in str(failure), True)
    return 'HTTP 401'


async def errors(echo, **_):
    for call in [echo.get('nobody-made-this'), echo.cancel('nobody-made-this')]:
        failure = await refused(call, A2ARemoteAgentError)
        equal(failure.status_code, NOT_FOUND)
    await refused(collect(echo, 'nobody-made-this'), A2ARemoteAgentError)
    return str(NOT_FOUND)


OPERATIONS = {
    'card': card,
    'send': send,
    'send, answered by a message': send_for_message,
    'receive files': receive_files,
    'send again when asked': send_again,
    'stream': stream,
    'stream of 2,000 events': long_stream,
    'stream of a task that has ended': late_stream,
    'get': get,
    'cancel': cancel,
    'webhook': webhook,
    'wrong or no credentials': credentials,
    'errors': errors,
}


def equal(actual, expected):
    assert actual == expected, f'{actual!r} (expected: {expected!r})'


def message(text):
    return Message(role='user', parts=[TextPart(content=text)])


def texts(messages):
    return [part.content for message in messages for part in message.parts]


def state(event):
    return event.state if isinstance(event, TaskStatusUpdateEvent) else None


async def collect(agent, task_id):
    """All events of a task: the stream ends with it."""
    return [event async for event in agent.events(task_id)]


async def until(agent, task_id, wanted):
    async for event in agent.events(task_id):
        if wanted(event):
            return
    raise AssertionError('the stream has ended')


async def ended(agent, task_id):
    """The task when it has ended."""
    await collect(agent, task_id)
    return await agent.get(task_id)


@asynccontextmanager
async def counting(counter):
    """A task that counts, slowly and for long, until it is canceled."""
    task_id = await counter.initiate(message('1000'))
    try:
        yield task_id
    finally:
        equal(await counter.cancel(task_id), True)


async def refused(call, error):
    try:
        await call
    except error as failure:
        return failure
    raise AssertionError(f'not refused (expected: {error.__name__})')
