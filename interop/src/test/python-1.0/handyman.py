"""What is done with the agent of `serve` behind each route of a gateway, one function for each operation."""

from a2a.client import A2ACardResolver
from a2a.helpers import get_message_text, get_text_parts, new_raw_part
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    SendMessageConfiguration,
    StreamResponse,
    TaskState,
)
from a2a.utils.errors import TaskNotCancelableError, TaskNotFoundError
from client import BINDINGS  # noqa: F401
from google.protobuf.json_format import ParseDict
from operations import answer_of, artifact_texts, collect, equal, kind, message, push_config, refused, state
from webhook import Webhook


AGENTS_AT_A_TIME = 4
IMAGE = b'\x89PNG\r\n\x1a\n\x00\xff'


async def card(agent):
    found = await A2ACardResolver(agent.http, agent.url).get_agent_card()
    equal((found.capabilities.streaming, found.capabilities.push_notifications), (True, True))
    equal(agent.protocol in [interface.protocol_binding for interface in found.supported_interfaces], True)


async def send(agent):
    task = await answer_of(agent, message('Grüße, 世界 🌍'))
    equal((task.status.state, texts(task)), (TaskState.TASK_STATE_COMPLETED, ['Grüße, 世界 🌍']))


async def send_for_message(agent):
    equal(get_message_text(await answer_of(agent, message('talk'))), 'hello')


async def send_file(agent):
    request = message('look')
    request.message.parts.append(new_raw_part(IMAGE, media_type='image/png', filename='a.png'))
    task = await answer_of(agent, request)
    parts = [part for artifact in task.artifacts for part in artifact.parts if part.raw]
    equal([(part.raw, part.media_type) for part in parts], [(IMAGE, 'image/png')])


async def stream(agent):
    events = await collect(agent.streaming.send_message(message('count')))
    messages = [event.status_update.status.message for event in events if kind(event) == 'status_update']
    equal([text for text in map(get_message_text, messages) if text], ['1', '2', '3'])
    equal(''.join(artifact_texts(events)), 'onetwo')
    equal(state(events[-1]), TaskState.TASK_STATE_COMPLETED)


async def question(agent):
    task = await answer_of(agent, message('ask'))
    equal((task.status.state, get_message_text(task.status.message)), (TaskState.TASK_STATE_INPUT_REQUIRED, 'What?'))
    answered = await answer_of(agent, message('blue', task_id=task.id, context_id=task.context_id))
    equal((answered.id, answered.status.state, texts(answered)), (task.id, TaskState.TASK_STATE_COMPLETED, ['blue']))


async def question_in_stream(agent):
    async for event in agent.streaming.send_message(message('ask')):
        if kind(event) == 'task':
            task = event.task
        if state(event) == TaskState.TASK_STATE_INPUT_REQUIRED:
            break
    answer = message('blue', task_id=task.id, context_id=task.context_id)
    events = await collect(agent.streaming.send_message(answer))
    equal((artifact_texts(events)[-1], state(events[-1])), ('blue', TaskState.TASK_STATE_COMPLETED))


async def get(agent):
    sent = await answer_of(agent, message('ask'))
    found = await agent.waiting.get_task(GetTaskRequest(id=sent.id))
    equal((found.id, found.context_id, found.status.state), (sent.id, sent.context_id, sent.status.state))


async def cancel(agent):
    started = await start(agent)
    canceled = await agent.waiting.cancel_task(CancelTaskRequest(id=started.id))
    equal((canceled.id, canceled.status.state), (started.id, TaskState.TASK_STATE_CANCELED))
    found = await agent.waiting.get_task(GetTaskRequest(id=started.id))
    equal(found.status.state, TaskState.TASK_STATE_CANCELED)


async def failure(agent):
    task = await answer_of(agent, message('fail'))
    equal((task.status.state, get_message_text(task.status.message)), (TaskState.TASK_STATE_FAILED, 'No luck'))


async def webhook(agent):
    with Webhook(lambda json: ParseDict(json, StreamResponse())) as hook:
        request = message('count')
        config = push_config('')
        config.url = hook.url
        request.configuration.CopyFrom(SendMessageConfiguration(task_push_notification_config=config))
        await answer_of(agent, request)
        await hook.until(lambda event: state(event) == TaskState.TASK_STATE_COMPLETED)
        equal({headers['Authorization'] for headers, _ in hook.received}, {'Bearer s3cret'})


async def errors(agent):
    ended = await answer_of(agent, message('hello'))
    await refused(agent.waiting.get_task(GetTaskRequest(id='nobody-made-this')), TaskNotFoundError)
    await refused(agent.waiting.cancel_task(CancelTaskRequest(id=ended.id)), TaskNotCancelableError)


OPERATIONS = {
    'card': card,
    'send': send,
    'send, answered by a message': send_for_message,
    'send a file': send_file,
    'stream': stream,
    'question': question,
    'question in a stream': question_in_stream,
    'get': get,
    'cancel': cancel,
    'failure': failure,
    'webhook': webhook,
    'errors': errors,
}


def texts(task):
    return [text for artifact in task.artifacts for text in get_text_parts(artifact.parts)]


async def start(agent):
    request = message('wait')
    request.configuration.CopyFrom(SendMessageConfiguration(return_immediately=True))
    return await answer_of(agent, request)
