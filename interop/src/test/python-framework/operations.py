"""The rows of the table of results, one function each: the same for every framework and command line."""

import json

from offered import NotOffered
from webhook import Webhook


AGENTS = ['analyst', 'chunked', 'counter', 'echo', 'interview', 'inventory', 'ping']


async def card(echo, **_):
    equal(await echo.card(), 'echo')
    return 'its name'


async def send(echo, **_):
    return contains(await echo.send('Grüße, 世界 🌍'), 'Grüße, 世界 🌍')


async def send_for_message(ping, **_):
    return contains(await ping.send('hello'), 'pong: hello')


async def send_file(analyst, **_):
    table = b'city,inhabitants\nOslo,717710\nBergen,291940\n'
    return contains(await analyst.send_file('Describe this', 'cities.csv', 'text/csv', table), '2 rows')


async def send_link(inventory, **_):
    url = 'https://files.example.com/report.pdf'
    return contains(await inventory.send_link('Read this', url, 'application/pdf'), url, 'application/pdf')


async def stream(chunked, **_):
    texts = await chunked.stream('20')
    equal(''.join(texts).split(), [str(number) for number in range(1, 21)])
    equal(len(texts) > 1, True)
    return f'{len(texts)} pieces'


async def progress(counter, **_):
    texts = await counter.progress('3')
    equal(in_order('1 of 3', '2 of 3', '3 of 3', texts=texts), True)
    return f'{len(texts)} texts'


async def question_and_answer(interview, **_):
    questions = await interview.converse('hello', 'Ada', 'tea')
    contains(questions[0], 'What is your name?')
    return contains(questions[-1], 'Name: Ada', 'Wish: tea')


async def get(interview, **_):
    state = await interview.get(await interview.start('hello'))
    equal(state, 'input-required')
    return state


async def list_(interview, **_):
    task_id = await interview.start('hello')
    equal(task_id in await interview.list(), True)
    return 'a task of ours'


async def cancel(interview, **_):
    state = await interview.cancel(await interview.start('hello'))
    equal(state, 'canceled')
    return state


async def subscribe(counter, **_):
    texts = await counter.subscribe(await counter.start('50'))
    return contains(texts[-1], 'Counted to 50.')


async def webhook(counter, **_):
    with Webhook(json.dumps) as hook:
        await counter.webhook('2', hook.url)
        await hook.until(lambda event: 'completed' in event.lower())
        return f'{len(hook.received)} events'


async def push_configs(interview, **_):
    task_id = await interview.start('hello')
    url = 'http://127.0.0.1:9/unreachable'
    config_id = await interview.set_push_config(task_id, url)
    equal(await interview.push_configs(task_id), {config_id: url})
    await interview.delete_push_config(task_id, config_id)
    equal(await interview.push_configs(task_id), {})
    return 'set, listed, deleted'


async def errors(echo, **_):
    try:
        await echo.get('unknown')
    except NotOffered:
        raise
    except Exception as refusal:
        return contains(str(refusal).lower(), 'not found')
    raise AssertionError('a task that does not exist was found')


OPERATIONS = {
    'card': card,
    'send': send,
    'send, answered by a message': send_for_message,
    'send a file': send_file,
    'send the URL of a file': send_link,
    'stream of an artifact': stream,
    'stream of progress': progress,
    'question and answer': question_and_answer,
    'get': get,
    'list': list_,
    'cancel': cancel,
    'subscribe': subscribe,
    'webhook': webhook,
    'push configs': push_configs,
    'errors': errors,
}


def equal(actual, expected):
    assert actual == expected, f'{actual!r} (expected: {expected!r})'


def contains(text, *wanted):
    for part in wanted:
        assert part in text, f'{text!r} (expected: with {part!r})'
    return text


def in_order(*wanted, texts):
    rest = iter(texts)
    return all(any(part in text for text in rest) for part in wanted)
