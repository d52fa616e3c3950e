"""What is done with each agent, one function for each row of the table of results.

A function gets the clients of every agent, returns a few words about what it saw, and raises if that is not what the
protocol promises.
"""

from contextlib import asynccontextmanager

from a2a.client import A2ACardResolver
from a2a.helpers import get_message_text, get_text_parts, new_raw_part, new_text_message
from a2a.types import (
    AuthenticationInfo,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError
from google.protobuf.json_format import ParseDict
from webhook import Webhook


AGENTS = ['analyst', 'chatty', 'counter', 'echo', 'interview', 'ping']


async def card(counter, **_):
    found = await A2ACardResolver(counter.http, counter.url).get_agent_card()
    equal(found.name, 'counter')
    equal((found.capabilities.streaming, found.capabilities.push_notifications), (True, True))
    equal(found.skills[0].id, 'count')
    equal(counter.protocol in [interface.protocol_binding for interface in found.supported_interfaces], True)
    return f'{found.name} {found.version}'


async def send(echo, **_):
    task = await answer_of(echo, message('Grüße, 世界 🌍'))
    equal(task.status.state, TaskState.TASK_STATE_COMPLETED)
    equal(get_text_parts(task.artifacts[0].parts), ['Grüße, 世界 🌍'])
    return task.artifacts[0].parts[0].text


async def send_for_message(ping, **_):
    answer = await answer_of(ping, message('hello'))
    equal(answer.role, Role.ROLE_AGENT)
    equal(get_message_text(answer), 'pong: hello')
    return get_message_text(answer)


async def send_files(analyst, **_):
    request = message('Please describe this')
    table = b'city,people\nOslo,709000\nBergen,291000\n'
    request.message.parts.append(new_raw_part(table, media_type='text/csv', filename='cities.csv'))
    task = await answer_of(analyst, request)
    equal(task.status.state, TaskState.TASK_STATE_COMPLETED)
    parts = [part for artifact in task.artifacts for part in artifact.parts]
    chart = next(part for part in parts if part.media_type == 'image/png')
    equal(chart.raw[1:4], b'PNG')
    return ', '.join(artifact.name for artifact in task.artifacts)


async def send_again(interview, **_):
    task = await answer_of(interview, message('hello'))
    for answer in ['Ada', 'tea']:
        equal(task.status.state, TaskState.TASK_STATE_INPUT_REQUIRED)
        task = await answer_of(interview, message(answer, task_id=task.id, context_id=task.context_id))
    equal(task.status.state, TaskState.TASK_STATE_COMPLETED)
    equal(get_text_parts(task.artifacts[0].parts), ['Name: Ada\nWish: tea\n'])
    return f'{len(task.history)} messages in the history'


async def stream(counter, echo, **_):
    counted = await collect(counter.streaming.send_message(message('3')))
    equal(kind(counted[0]), 'task')
    equal([state(event) for event in counted].count(TaskState.TASK_STATE_WORKING) >= 3, True)
    equal(artifact_texts(counted), ['Counted to 3.'])
    equal(state(counted[-1]), TaskState.TASK_STATE_COMPLETED)

    echoed = await collect(echo.streaming.send_message(message('hello')))
    equal(artifact_texts(echoed), ['hello'])
    equal(state(echoed[-1]), TaskState.TASK_STATE_COMPLETED)
    return f'{len(counted)} + {len(echoed)} events'


async def long_stream(chatty, **_):
    events = await collect(chatty.streaming.send_message(message('2000')))
    updates = [event.status_update.status for event in events if kind(event) == 'status_update']
    said = [get_message_text(status.message) for status in updates if status.HasField('message')]
    equal(said, [f'{i} of 2000' for i in range(1, 2001)])
    return f'{len(events)} events'


async def get(interview, **_):
    sent = await answer_of(interview, message('hello'))
    whole = await interview.waiting.get_task(GetTaskRequest(id=sent.id))
    equal(whole, sent)
    equal(get_message_text(whole.history[0]), 'hello')
    without = await interview.waiting.get_task(GetTaskRequest(id=sent.id, history_length=0))
    equal(len(without.history), 0)
    return f'{len(whole.history)} messages in the history, 0 when 0 are asked for'


async def list_(echo, **_):
    async def page_of(**more):
        request = ListTasksRequest(context_id=first.context_id, page_size=1, **more)
        return await echo.waiting.list_tasks(request)

    completed = TaskState.TASK_STATE_COMPLETED
    first = await answer_of(echo, message('first'))
    second = await answer_of(echo, message('second', context_id=first.context_id))
    page = await page_of(status=completed)
    rest = await page_of(status=completed, page_token=page.next_page_token, include_artifacts=True)
    [newer, older] = [*page.tasks, *rest.tasks]
    equal({newer.id, older.id}, {first.id, second.id})
    equal(newer.status.timestamp.ToDatetime() >= older.status.timestamp.ToDatetime(), True)
    equal((page.total_size, page.page_size, rest.next_page_token), (2, 1, ''))
    equal(list(newer.artifacts), [])
    equal(list(older.artifacts), list((first if older.id == first.id else second).artifacts))
    none = await page_of(status=TaskState.TASK_STATE_FAILED)
    equal((len(none.tasks), none.total_size), (0, 0))
    return '2 tasks on 2 pages'


async def cancel(counter, **_):
    started = await start(counter)
    canceled = await counter.waiting.cancel_task(CancelTaskRequest(id=started.id))
    equal(canceled.id, started.id)
    equal(canceled.status.state, TaskState.TASK_STATE_CANCELED)
    return canceled.status.timestamp.ToJsonString()


async def subscribe(counter, **_):
    started = await start(counter)
    events = []
    async for event in counter.streaming.subscribe(SubscribeToTaskRequest(id=started.id)):
        events.append(event)
        if len(events) == 3:
            await counter.waiting.cancel_task(CancelTaskRequest(id=started.id))
    equal(kind(events[0]), 'task')
    equal(events[0].task.id, started.id)
    equal({kind(event) for event in events[1:]}, {'status_update'})
    equal(state(events[-1]), TaskState.TASK_STATE_CANCELED)
    return f'{len(events)} events'


async def subscribe_beyond_question(interview, **_):
    asked = await answer_of(interview, message('hello'))
    events = []
    async for event in interview.streaming.subscribe(SubscribeToTaskRequest(id=asked.id)):
        events.append(event)
        if state(event) == TaskState.TASK_STATE_INPUT_REQUIRED:
            await answer_of(interview, message('Ada', task_id=asked.id))
    questions = [kind(event) for event in events if state(event) == TaskState.TASK_STATE_INPUT_REQUIRED]
    equal(questions, ['task', 'status_update'])
    equal(state(events[-1]), TaskState.TASK_STATE_COMPLETED)
    return f'{len(events)} events'


async def create_push_config(counter, **_):
    async with counting(counter) as task:
        wanted = push_config(task.id)
        made = await counter.waiting.create_task_push_notification_config(wanted)
        equal(made.id != '', True)
        wanted.id = 'mine'
        named = await counter.waiting.create_task_push_notification_config(wanted)
        wanted.token = wanted.authentication.credentials = ''
        equal(named, wanted)
        return 'an id is given, or kept'


async def get_push_config(counter, **_):
    async with counting(counter) as task:
        made = await counter.waiting.create_task_push_notification_config(push_config(task.id))
        one = GetTaskPushNotificationConfigRequest(task_id=task.id, id=made.id)
        found = await counter.waiting.get_task_push_notification_config(one)
        equal(found, made)
        return found.url


async def list_push_configs(counter, **_):
    async with counting(counter) as task:
        made = []
        for name in ['a', 'b']:
            config = push_config(task.id)
            config.id = name
            made.append(await counter.waiting.create_task_push_notification_config(config))
        request = ListTaskPushNotificationConfigsRequest(task_id=task.id)
        page = await counter.waiting.list_task_push_notification_configs(request)
        equal(list(page.configs), made)
        equal(page.next_page_token, '')
        return f'{len(page.configs)} configs'


async def delete_push_config(counter, **_):
    async with counting(counter) as task:
        made = await counter.waiting.create_task_push_notification_config(push_config(task.id))
        one = DeleteTaskPushNotificationConfigRequest(task_id=task.id, id=made.id)
        await counter.waiting.delete_task_push_notification_config(one)
        await counter.waiting.delete_task_push_notification_config(one)
        gone = GetTaskPushNotificationConfigRequest(task_id=task.id, id=made.id)
        await refused(counter.waiting.get_task_push_notification_config(gone), TaskNotFoundError)
        return 'twice is as good as once'


async def webhook(counter, **_):
    with Webhook(lambda json: ParseDict(json, StreamResponse())) as hook:
        request = message('2')
        config = push_config('')
        config.url = hook.url
        request.configuration.CopyFrom(SendMessageConfiguration(task_push_notification_config=config))
        task = await answer_of(counter, request)
        await hook.until(lambda event: state(event) == TaskState.TASK_STATE_COMPLETED)
        for headers, event in hook.received:
            equal(headers['Authorization'], 'Bearer s3cret')
            equal(headers['X-A2A-Notification-Token'], 'a token')
            equal(task_id(event), task.id)
        equal(state(hook.received[-1][1]), TaskState.TASK_STATE_COMPLETED)
        return f'{len(hook.received)} events'


async def errors(echo, **_):
    ended = await answer_of(echo, message('hello'))
    client = echo.waiting
    await refused(client.get_task(GetTaskRequest(id='nobody-made-this')), TaskNotFoundError)
    await refused(client.cancel_task(CancelTaskRequest(id=ended.id)), TaskNotCancelableError)
    await refused(answer_of(echo, message('more', task_id=ended.id)), UnsupportedOperationError)
    subscription = echo.streaming.subscribe(SubscribeToTaskRequest(id=ended.id))
    await refused(collect(subscription), UnsupportedOperationError)
    return 'TaskNotFoundError, TaskNotCancelableError, UnsupportedOperationError, UnsupportedOperationError'


OPERATIONS = {
    'card': card,
    'send': send,
    'send, answered by a message': send_for_message,
    'send files': send_files,
    'send again when asked': send_again,
    'stream': stream,
    'stream of 2,000 events': long_stream,
    'get': get,
    'list': list_,
    'cancel': cancel,
    'subscribe': subscribe,
    'subscribe beyond a question': subscribe_beyond_question,
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
    made = new_text_message(text, task_id=task_id, context_id=context_id, role=Role.ROLE_USER)
    return SendMessageRequest(message=made)


def push_config(task_id):
    return TaskPushNotificationConfig(
        task_id=task_id,
        url='http://127.0.0.1:9/nobody-listens',
        token='a token',
        authentication=AuthenticationInfo(scheme='Bearer', credentials='s3cret'),
    )


async def answer_of(agent, request):
    """What a blocking send leads to: a task or a message."""
    [event] = await collect(agent.waiting.send_message(request))
    return getattr(event, kind(event))


async def start(counter):
    """Starts to count, slowly and for long."""
    request = message('1000')
    request.configuration.CopyFrom(SendMessageConfiguration(return_immediately=True))
    return await answer_of(counter, request)


@asynccontextmanager
async def counting(counter):
    task = await start(counter)
    try:
        yield task
    finally:
        await counter.waiting.cancel_task(CancelTaskRequest(id=task.id))


async def collect(events):
    return [event async for event in events]


async def refused(call, error):
    try:
        await call
    except error:
        return
    raise AssertionError(f'not refused (expected: {error.__name__})')


def kind(event):
    return event.WhichOneof('payload')


def task_id(event):
    return event.task.id if kind(event) == 'task' else getattr(event, kind(event)).task_id


def state(event):
    return None if kind(event) == 'artifact_update' else getattr(event, kind(event)).status.state


def artifact_texts(events):
    updates = [event.artifact_update for event in events if kind(event) == 'artifact_update']
    return [text for update in updates for text in get_text_parts(update.artifact.parts)]
