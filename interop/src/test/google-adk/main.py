"""The client of the Agent Development Kit calls the agents of a hub, which it finds by the addresses of their cards."""

import asyncio
import json
import sys
import traceback
import warnings

from importlib.metadata import version

warnings.filterwarnings('ignore')

from google.adk.agents.remote_a2a_agent import RemoteA2aAgent  # noqa: E402
from google.adk.runners import InMemoryRunner  # noqa: E402
from google.genai import types  # noqa: E402


CLIENT = f'google-adk {version("google-adk")}'
SECONDS_PER_OPERATION = 20


async def converse(hub, name, *texts, file=None):
    """Returns what the agent answers to the last of some texts, each sent when the one before is answered."""
    agent = RemoteA2aAgent(name=name, agent_card=f'{hub}/agents/{name}/.well-known/agent-card.json')
    runner = InMemoryRunner(agent=agent, app_name='interop')
    session = await runner.session_service.create_session(app_name='interop', user_id='user')
    answers = []
    for text in texts:
        parts = [types.Part(text=text)]
        if file:
            parts.append(types.Part(inline_data=types.Blob(data=file, mime_type='text/csv')))
        answers = []
        message = types.Content(role='user', parts=parts)
        async for event in runner.run_async(user_id='user', session_id=session.id, new_message=message):
            if event.error_message:
                raise AssertionError(event.error_message)
            for part in event.content.parts if event.content else []:
                answers.append(part.text or str(part.inline_data))
    return '\n'.join(answers)


async def outcome_of(answer, expected):
    try:
        got = await asyncio.wait_for(answer, SECONDS_PER_OPERATION)
        assert expected in got, f'{expected!r} is not in {got!r}'
        return 'passed', ''
    except Exception:
        return 'failed', traceback.format_exc()


async def main(hub):
    operations = {
        'send, by the address of the card': (('echo', 'hello'), {}, 'hello'),
        'send, answered by a message': (('ping', 'hello'), {}, 'pong'),
        'send files': (('analyst', 'Describe this'), {'file': b'city,inhabitants\nOslo,717710\n'}, 'Oslo'),
        'stream': (('counter', '3'), {}, '3'),
        'stream up to a question, and answer it': (('interview', 'begin', 'Ada', 'tea'), {}, 'Ada'),
    }
    for operation, (texts, more, expected) in operations.items():
        result, detail = await outcome_of(converse(hub, *texts, **more), expected)
        check = {
            'client': CLIENT,
            'dialect': '1.0',
            'binding': '',
            'operation': operation,
            'result': result,
            'detail': detail,
        }
        print(json.dumps(check), flush=True)


asyncio.run(main(sys.argv[1]))
