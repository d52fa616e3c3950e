"""Calls the agents of a hub as tools of MCP, by the official Python SDK, once over each transport and era.

Prints one line of JSON for each operation: {client, dialect, binding, operation, result, detail}.

Usage: python main.py HUB_URL SECURED_HUB_URL TOKEN STDIO_COMMAND_AS_JSON
"""

import asyncio
import base64
import json
import os
import sys
import traceback
from importlib.metadata import version

RESULTS = os.fdopen(os.dup(1), 'w')
os.dup2(2, 1)

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult, PromptReference, ResourceTemplateReference

SECONDS_PER_OPERATION = 30
MODERN = '2026-07-28'
LEGACY = '2025-11-25'


class Calls:
    """Operations of a client that is connected; questions are answered from a list."""

    def __init__(self, client, name):
        self.client = client
        self.name = name

    async def text(self, tool, **arguments):
        return text_of(await self.client.call_tool(tool, arguments))

    async def connect(self, expected):
        expect(self.client.server_info.name, 'parley')
        return expect(self.client.protocol_version, expected)

    async def list(self):
        tools = {tool.name: tool for tool in (await self.client.list_tools()).tools}
        expect('Counts from 1' in tools['counter__count'].description, True)
        expect(tools['booking__order'].input_schema['properties'], {'guests': {'type': 'integer'}})
        return str(len(tools) > 8 or tools)

    async def call(self):
        result = await self.client.call_tool('echo__echo', {'message': 'Grüße, 世界 🌍'})
        expect(result.structured_content['state'], 'completed')
        return expect(text_of(result), 'Grüße, 世界 🌍')

    async def failed(self):
        result = await self.client.call_tool('failing__fail', {'message': 'x'})
        expect(result.is_error, True)
        return expect('no luck' in text_of(result), True)

    async def unknown(self):
        return await refused(self.client.call_tool('nothing__here', {}), 'nothing__here')

    async def progress(self):
        seen = []

        async def on_progress(progress, total, message):
            seen.append((progress, message))

        result = await self.client.call_tool('counter__count', {'message': '3'}, progress_callback=on_progress)
        expect(text_of(result), 'Counted to 3.')
        numbers = [progress for progress, _ in seen]
        expect(numbers == sorted(set(numbers)) and len(numbers) > 1, True)
        return expect(any('of 3' in (message or '') for _, message in seen), True)

    async def question(self):
        ANSWERS[:] = [('accept', {'answer': 'Ada'}), ('accept', {'answer': 'a car'})]
        expect(await self.text('interview__interview', message='Hello'), 'Name: Ada\nWish: a car\n')
        return expect([question.message for question in QUESTIONS[-2:]], ['What is your name?', 'What do you want, Ada?'])

    async def form(self):
        ANSWERS[:] = [('accept', {'table': 'window', 'quiet': True})]
        expect(await self.text('booking__order', guests=2), 'window for 2, quiet')
        return expect(sorted(QUESTIONS[-1].requested_schema['properties']), ['quiet', 'table'])

    async def declined(self):
        ANSWERS[:] = [('decline', None)]
        result = await self.client.call_tool('booking__order', {'guests': 2})
        expect(result.is_error, True)
        return expect('canceled' in text_of(result), True)

    async def cancel(self):
        key = f'{self.name} {os.getpid()}'
        begun = asyncio.Event()

        async def on_progress(progress, total, message):
            begun.set()

        call = asyncio.create_task(
            self.client.call_tool('waiter__wait', {'message': key}, progress_callback=on_progress)
        )
        await begun.wait()
        call.cancel()
        await asyncio.wait([call])
        return expect(await self.text('waiter__confirm', message=key), 'interrupted')

    async def resources(self):
        uris = [str(each.uri) for each in (await self.client.list_resources()).resources]
        expect('parley://agents/echo/card' in uris, True)
        templates = (await self.client.list_resource_templates()).resource_templates
        expect('card' in [template.name for template in templates], True)
        card = (await self.client.read_resource('parley://agents/echo/card')).contents[0]
        code = -32602 if self.client.protocol_version == MODERN else -32002
        await refused(self.client.read_resource('parley://agents/nothing/card'), 'nothing', code)
        return expect(json.loads(card.text)['name'], 'echo')

    async def artifact(self):
        content = (await self.client.call_tool('files__make', {'message': 'x'})).content
        expect([block.type for block in content if block.type != 'text'], ['image', 'resource_link'])
        image = next(block for block in content if block.type == 'image')
        expect(base64.b64decode(image.data), b'\x89PNG')
        link = next(block for block in content if block.type == 'resource_link')
        blob = (await self.client.read_resource(link.uri)).contents[0].blob
        return expect(len(base64.b64decode(blob)), 100_000)

    async def prompts(self):
        names = [prompt.name for prompt in (await self.client.list_prompts()).prompts]
        expect('echo__echo' in names, True)
        prompt = await self.client.get_prompt('echo__echo', {'message': 'good evening'})
        return expect('good evening' in prompt.messages[0].content.text, True)

    async def completion(self):
        prompt = PromptReference(type='ref/prompt', name='echo__echo')
        values = (await self.client.complete(prompt, {'name': 'message', 'value': 'say'})).completion.values
        expect(values, ['Say it again'])
        template = ResourceTemplateReference(type='ref/resource', uri='parley://agents/{agent}/card')
        values = (await self.client.complete(template, {'name': 'agent', 'value': 'ec'})).completion.values
        return expect(values, ['echo'])

    async def changes(self):
        name = 'new-' + self.name.lower().replace(' ', '-')
        if self.client.protocol_version == MODERN:
            async with self.client.listen(tools_list_changed=True) as subscription:
                await self.text('opener__open', message=name)
                await anext(aiter(subscription))
        else:
            CHANGED.clear()
            await self.text('opener__open', message=name)
            await CHANGED.wait()
        tools = (await self.client.list_tools(cache_mode='refresh')).tools
        return expect(f'{name}__work' in [tool.name for tool in tools], True)

    async def agent(self, url):
        async with Client(url + '/agents/echo/mcp', mode=MODE[self.client.protocol_version]) as one:
            names = [tool.name for tool in (await one.list_tools()).tools]
            return expect([name for name in names if '__' in name], ['echo__echo'])

    async def bearer(self, url, token):
        mode = MODE[self.client.protocol_version]
        async with httpx2.AsyncClient(headers={'Authorization': 'Bearer ' + token}) as http:
            async with Client(streamable_http_client(url + '/mcp', http_client=http), mode=mode) as known:
                expect(text_of(await known.call_tool('echo__echo', {'message': 'secret'})), 'secret')
        try:
            async with Client(url + '/mcp', mode=mode) as unknown:
                await unknown.list_tools()
        except Exception as refusal:
            return type(refusal).__name__
        raise AssertionError('called without a token')

    async def handle(self, url, token):
        mode = MODE[self.client.protocol_version]
        async with httpx2.AsyncClient(headers={'Authorization': 'Bearer ' + token}) as http:
            async with Client(streamable_http_client(url + '/mcp', http_client=http), mode=mode) as known:
                task = (await known.call_tool('counter__count', {'message': '600'})).structured_content
                expect(task['state'], 'working')
                id = {'taskId': task['taskId']}
                expect((await known.call_tool('task_status', id)).structured_content['state'], 'working')
                return expect((await known.call_tool('task_cancel', id)).structured_content['state'], 'canceled')


MODE = {MODERN: 'auto', LEGACY: 'legacy'}
QUESTIONS = []
ANSWERS = []
CHANGED = asyncio.Event()


async def answer(context, params):
    QUESTIONS.append(params)
    action, content = ANSWERS.pop(0)
    return ElicitResult(action=action, content=content)


async def on_message(message):
    if getattr(message, 'method', '') == 'notifications/tools/list_changed':
        CHANGED.set()


def text_of(result):
    return ''.join(block.text for block in result.content if block.type == 'text')


def expect(actual, expected):
    if actual != expected:
        raise AssertionError(f'{actual!r} (expected: {expected!r})')
    return str(actual)


async def refused(call, name, code=-32602):
    try:
        await call
    except MCPError as error:
        expect(name in error.message, True)
        return expect(error.code, code)
    raise AssertionError('not refused')


async def everything(hub, secured, token, stdio):
    command, *arguments = json.loads(stdio)
    program = StdioServerParameters(command=command, args=arguments)
    for binding, server, mode, expected in (
        ('HTTP', hub + '/mcp', 'auto', MODERN),
        ('HTTP', hub + '/mcp', 'legacy', LEGACY),
        ('stdio', program, 'auto', MODERN),
        ('stdio', program, 'legacy', LEGACY),
    ):
        async with Client(server, mode=mode, elicitation_callback=answer, message_handler=on_message) as client:
            calls = Calls(client, f'Python {binding} {expected}')
            operations = {
                'connect': lambda: calls.connect(expected),
                'list tools': calls.list,
                'call': calls.call,
                'failed call': calls.failed,
                'unknown tool': calls.unknown,
                'progress': calls.progress,
                'question answered': calls.question,
                'question with a form': calls.form,
                'question declined': calls.declined,
                'cancel': calls.cancel,
                'resources': calls.resources,
                'artifact as a resource': calls.artifact,
                'prompts': calls.prompts,
                'completion': calls.completion,
            }
            if binding == 'HTTP':
                operations |= {
                    'list changed': calls.changes,
                    'address of one agent': lambda: calls.agent(hub),
                    'bearer token': lambda: calls.bearer(secured, token),
                    'long task': lambda: calls.handle(secured, token),
                }
            for operation, run in operations.items():
                tell(f'{binding} {expected}', operation, await outcome_of(run()))


async def outcome_of(work):
    try:
        return 'passed', str(await asyncio.wait_for(work, SECONDS_PER_OPERATION))
    except Exception:
        return 'failed', traceback.format_exc()


def tell(binding, operation, outcome):
    check = {
        'client': 'Python ' + version('mcp'),
        'dialect': 'clients',
        'binding': binding,
        'operation': operation,
        'result': outcome[0],
        'detail': outcome[1],
    }
    print(json.dumps(check), file=RESULTS, flush=True)


asyncio.run(everything(*sys.argv[1:]))
