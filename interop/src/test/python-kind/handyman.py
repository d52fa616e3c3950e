"""What is done with the agent of `serve` behind each route of a gateway, by releases of the SDK before 1.0."""

from base64 import b64decode, b64encode

from a2a.types import FilePart, FileWithBytes, Part, Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent
from operations import NOT_CANCELABLE, NOT_FOUND, equal, message, push_config, refused, state, texts
from webhook import Webhook


# Over gRPC, calls of this version reach the default agent of a hub only.
BINDINGS = {'jsonrpc': 'JSONRPC', 'rest': 'HTTP+JSON'}
AGENTS_AT_A_TIME = 4
IMAGE = b'\x89PNG\r\n\x1a\n\x00\xff'


async def card(agent):
    found = await agent.card()
    equal((found.capabilities.streaming, found.capabilities.push_notifications), (True, True))


async def send(agent):
    task = await agent.send(message('Grüße, 世界 🌍'))
    equal((task.status.state, texts_of(task)), (TaskState.completed, ['Grüße, 世界 🌍']))


async def send_for_message(agent):
    equal(texts((await agent.send(message('talk'))).parts), ['hello'])


async def send_file(agent):
    request = message('look')
    file = FileWithBytes(bytes=b64encode(IMAGE).decode(), mime_type='image/png', name='a.png')
    request.parts.append(Part(root=FilePart(file=file)))
    task = await agent.send(request)
    parts = [part.root for artifact in task.artifacts for part in artifact.parts]
    files = [part.file for part in parts if part.kind == 'file']
    equal([(b64decode(file.bytes), file.mime_type) for file in files], [(IMAGE, 'image/png')])


async def stream(agent):
    said, pieces, last = [], [], None
    # The SDK goes on to change what it has shown.
    async for event in agent.stream(message('count')):
        last = state(event)
        if isinstance(event, TaskArtifactUpdateEvent):
            pieces += texts(event.artifact.parts)
        elif isinstance(event, TaskStatusUpdateEvent) and event.status.message:
            said += texts(event.status.message.parts)
    equal((said, ''.join(pieces), last), (['1', '2', '3'], 'onetwo', TaskState.completed))


async def question(agent):
    task = await agent.send(message('ask'))
    equal((task.status.state, texts(task.status.message.parts)), (TaskState.input_required, ['What?']))
    answered = await agent.send(message('blue', task_id=task.id, context_id=task.context_id))
    equal((answered.id, answered.status.state, texts_of(answered)), (task.id, TaskState.completed, ['blue']))


async def question_in_stream(agent):
    last = None
    async for event in agent.stream(message('ask')):
        if isinstance(event, Task):
            task = event
        last = state(event)
    equal(last, TaskState.input_required)
    pieces = []
    async for event in agent.stream(message('blue', task_id=task.id, context_id=task.context_id)):
        if isinstance(event, TaskArtifactUpdateEvent):
            pieces += texts(event.artifact.parts)
        last = state(event)
    equal((pieces, last), (['blue'], TaskState.completed))


async def get(agent):
    sent = await agent.send(message('ask'))
    found = await agent.get(sent.id)
    equal((found.id, found.context_id, found.status.state), (sent.id, sent.context_id, sent.status.state))


async def cancel(agent):
    started = await agent.send(message('wait'), blocking=False)
    canceled = await agent.cancel(started.id)
    equal((canceled.id, canceled.status.state), (started.id, TaskState.canceled))
    equal((await agent.get(started.id)).status.state, TaskState.canceled)


async def failure(agent):
    task = await agent.send(message('fail'))
    equal((task.status.state, texts(task.status.message.parts)), (TaskState.failed, ['No luck']))


async def webhook(agent):
    with Webhook(Task.model_validate) as hook:
        config = push_config('').push_notification_config
        config.url = hook.url
        await agent.send(message('count'), push_config=config)
        await hook.until(lambda task: task.status.state == TaskState.completed)
        equal({headers['Authorization'] for headers, _ in hook.received}, {'Bearer s3cret'})


async def errors(agent):
    ended = await agent.send(message('hello'))
    await refused(agent.get('nobody-made-this'), NOT_FOUND)
    await refused(agent.cancel(ended.id), NOT_CANCELABLE)


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


def texts_of(task):
    return [text for artifact in task.artifacts for text in texts(artifact.parts)]
