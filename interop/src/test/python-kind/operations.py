"""What is done with each agent, one function for each row of the table of results, by releases of the SDK before 1.0.

A function gets the clients of every agent, returns a few words about what it saw, and raises if that is not what the
protocol promises.
"""

from base64 import b64decode, b64encode
from contextlib import asynccontextmanager
from uuid import uuid4

from a2a.types import (
    FilePart,
    FileWithBytes,
    Message,
    Part,
    PushNotificationAuthenticationInfo,
    PushNotificationConfig,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskPushNotificationConfig,
    TaskState,
    TaskStatusUpdateEvent,
    TextPart,
)
from client import code_of
from offered import NotOffered
from webhook import Webhook


AGENTS = ['analyst', 'chatty', 'counter', 'echo', 'interview', 'ping']

NOT_FOUND = -32001
NOT_CANCELABLE = -32002
UNSUPPORTED = -32004


async def card(counter, **_):
    found = await counter.card()
    equal(found.name, 'counter')
    equal((found.capabilities.streaming, found.capabilities.push_notifications), (True, True))
    equal(found.skills[0].id, 'count')
    return f'{found.name} {found.version}'


async def send(echo, **_):
    task = await echo.send(message('Grüße, 世界 🌍'))
    equal(task.kind, 'task')
    equal(task.status.state, TaskState.completed)
    equal(texts(task.artifacts[0].parts), ['Grüße, 世界 🌍'])
    return task.artifacts[0].parts[0].root.text


async def send_for_message(ping, **_):
    answer = await ping.send(message('hello'))
    equal((answer.kind, answer.role), ('message', Role.agent))
    equal(texts(answer.parts), ['pong: hello'])
    return answer.parts[0].root.text


async def send_files(analyst, **_):
    request = message('Please describe this')
    table = b64encode(b'city,people\nOslo,709000\nBergen,291000\n').decode()
    file = FileWithBytes(bytes=table, name='cities.csv', mime_type='text/csv')
    request.parts.append(Part(root=FilePart(file=file)))
    task = await analyst.send(request)
    equal(task.status.state, TaskState.completed)
    parts = [part.root for artifact in task.artifacts for part in artifact.parts]
    chart = next(part for part in parts if part.kind == 'file' and part.file.mime_type == 'image/png')
    equal(b64decode(chart.file.bytes)[1:4], b'PNG')
    return ', '.join(artifact.name for artifact in task.artifacts)


async def send_again(interview, **_):
    task = await interview.send(message('hello'))
    for answer in ['Ada', 'tea']:
        equal(task.status.state, TaskState.input_required)
        task = await interview.send(message(answer, task_id=task.id, context_id=task.context_id))
    equal(task.status.state, TaskState.completed)
    equal(texts(task.artifacts[0].parts), ['Name: Ada\nWish: tea\n'])
    return f'{len(task.history)} messages in the history'


async def stream(counter, echo, **_):
    counted = await collect(counter.stream(message('3')))
    equal(type(counted[0]), Task)
    equal([state(event) for event in counted].count(TaskState.working) >= 3, True)
    equal(artifact_texts(counted), ['Counted to 3.'])
    ends(counted, TaskState.completed)

    echoed = await collect(echo.stream(message('hello')))
    equal(artifact_texts(echoed), ['hello'])
    ends(echoed, TaskState.completed)
    return f'{len(counted)} + {len(echoed)} events'


async def long_stream(chatty, **_):
    events = await collect(chatty.stream(message('2000')))
    updates = [event.status for event in events if isinstance(event, TaskStatusUpdateEvent)]
    said = [text for status in updates if status.message for text in texts(status.message.parts)]
    equal(said, [f'{i} of 2000' for i in range(1, 2001)])
    return f'{len(events)} events'


async def stream_up_to_question(interview, **_):
    asked = await collect(interview.stream(message('hello')))
    ends(asked, TaskState.input_required)
    task_id = asked[-1].task_id
    answered = await collect(interview.stream(message('Ada', task_id=task_id, context_id=asked[-1].context_id)))
    ends(answered, TaskState.input_required)
    return f'{len(asked)} + {len(answered)} events'


async def get(interview, **_):
    sent = await interview.send(message('hello'))
    whole = await interview.get(sent.id)
    equal(whole, sent)
    equal(texts(whole.history[0].parts), ['hello'])
    last = await interview.get(sent.id, history_length=1)
    equal(last.history, whole.history[-1:])
    return f'{len(whole.history)} messages in the history, 1 when 1 is asked for'


async def cancel(counter, **_):
    started = await start(counter)
    canceled = await counter.cancel(started.id)
    equal(canceled.id, started.id)
    equal(canceled.status.state, TaskState.canceled)
    return canceled.status.timestamp


async def subscribe(counter, **_):
    async with counting(counter, ends=True) as started:
        events = []
        async for event in counter.resubscribe(started.id):
            events.append(event)
            if len(events) == 3:
                await counter.cancel(started.id)
        equal(type(events[0]), Task)
        equal({type(event) for event in events[1:]}, {TaskStatusUpdateEvent})
        ends(events, TaskState.canceled)
        return f'{len(events)} events'


async def create_push_config(counter, **_):
    async with counting(counter) as task:
        wanted = push_config(task.id, 'mine')
        named = (await counter.set_push_config(wanted)).push_notification_config
        equal((named.id, named.url), ('mine', wanted.push_notification_config.url))
        # Secrets are not returned, which clients of ProtoJSON and gRPC show as an empty text.
        equal((named.token or None, named.authentication.credentials or None), (None, None))
        equal(named.authentication.schemes, ['Bearer'])
        made = await counter.set_push_config(push_config(task.id))
        equal(made.push_notification_config.url, wanted.push_notification_config.url)
        equal(bool(made.push_notification_config.id), True)
        return 'an id is given, or kept'


async def get_push_config(counter, **_):
    async with counting(counter) as task:
        made = await counter.set_push_config(push_config(task.id, 'mine'))
        found = await counter.get_push_config(task.id, 'mine')
        equal(found, made)
        return found.push_notification_config.url


async def list_push_configs(counter, **_):
    async with counting(counter) as task:
        made = [await counter.set_push_config(push_config(task.id, name)) for name in ['a', 'b']]
        configs = await counter.list_push_configs(task.id)
        equal(configs, made)
        return f'{len(configs)} configs'


async def delete_push_config(counter, **_):
    async with counting(counter) as task:
        await counter.set_push_config(push_config(task.id, 'mine'))
        await counter.delete_push_config(task.id, 'mine')
        await refused(counter.get_push_config(task.id, 'mine'), NOT_FOUND)
        return 'gone'


async def webhook(counter, **_):
    with Webhook(Task.model_validate) as hook:
        config = push_config('').push_notification_config
        config.url = hook.url
        task = await counter.send(message('2'), push_config=config)
        await hook.until(lambda told: told.status.state == TaskState.completed)
        for headers, told in hook.received:
            equal(headers['Authorization'], 'Bearer s3cret')
            equal(headers['X-A2A-Notification-Token'], 'a token')
            equal((told.kind, told.id), ('task', task.id))
        equal(hook.received[-1][1].status.state, TaskState.completed)
        return f'{len(hook.received)} tasks'


async def errors(echo, **_):
    ended = await echo.send(message('hello'))
    await refused(echo.get('nobody-made-this'), NOT_FOUND)
    await refused(echo.cancel(ended.id), NOT_CANCELABLE)
    await refused(echo.send(message('more', task_id=ended.id)), UNSUPPORTED)
    await refused(collect(echo.stream(message('more', task_id=ended.id))), UNSUPPORTED)
    try:
        await refused(collect(echo.resubscribe(ended.id)), UNSUPPORTED)
    except NotOffered:
        pass  # told by its own row
    return f'{NOT_FOUND}, {NOT_CANCELABLE}, {UNSUPPORTED}, {UNSUPPORTED}'


OPERATIONS = {
    'card': card,
    'send': send,
    'send, answered by a message': send_for_message,
    'send files': send_files,
    'send again when asked': send_again,
    'stream': stream,
    'stream of 2,000 events': long_stream,
    'stream up to a question': stream_up_to_question,
    'get': get,
    'cancel': cancel,
    'subscribe': subscribe,
    'push config: create': create_push_config,
    'push config: get': get_push_config,
    'push config: list': list_push_configs,
    'push config: delete': delete_push_config,
    'webhook': webhook,
    'errors': errors,
}


def equal(actual, expected):
    assert actual == expected, f'{actual!r} (expected: {expected!r})'


def message(text, task_id=None, context_id=None):
    return Message(
        message_id=str(uuid4()),
        role=Role.user,
        parts=[Part(root=TextPart(text=text))],
        task_id=task_id,
        context_id=context_id,
    )


def push_config(task_id, config_id=None):
    config = PushNotificationConfig(
        id=config_id,
        url='http://127.0.0.1:9/nobody-listens',
        token='a token',
        authentication=PushNotificationAuthenticationInfo(schemes=['Bearer'], credentials='s3cret'),
    )
    return TaskPushNotificationConfig(task_id=task_id, push_notification_config=config)


async def start(counter):
    """Starts to count, slowly and for long."""
    return await counter.send(message('1000'), blocking=False)


@asynccontextmanager
async def counting(counter, ends=False):
    task = await start(counter)
    try:
        yield task
    finally:
        if not ends or (await counter.get(task.id)).status.state == TaskState.working:
            await counter.cancel(task.id)


async def collect(events):
    return [event async for event in events]


async def refused(call, code):
    try:
        await call
    except NotOffered:
        raise
    except Exception as failure:
        # Where the client hides why, that it was refused has to be enough.
        equal(code_of(failure) in (code, None), True)
        return
    raise AssertionError(f'not refused (expected: {code})')


def ends(events, expected):
    """The last event, and no other, says that it is the last."""
    equal(state(events[-1]), expected)
    equal([event for event in events if getattr(event, 'final', False)], [events[-1]])


def state(event):
    return None if isinstance(event, TaskArtifactUpdateEvent) else event.status.state


def artifact_texts(events):
    updates = [event for event in events if isinstance(event, TaskArtifactUpdateEvent)]
    return [text for update in updates for text in texts(update.artifact.parts)]


def texts(parts):
    return [part.root.text for part in parts if part.root.kind == 'text']
