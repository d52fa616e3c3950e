"""The client of the Agent Development Kit, which finds agents by the addresses of their cards."""

import warnings

from importlib.metadata import version

warnings.filterwarnings('ignore')

import agent as framework  # noqa: E402

from google.adk.agents.remote_a2a_agent import RemoteA2aAgent  # noqa: E402
from google.adk.runners import InMemoryRunner  # noqa: E402
from google.genai.types import Blob, Content, FileData, Part  # noqa: E402


CLIENT = f'google-adk {version("google-adk")}'
DIALECT = '1.0'
BINDINGS = {'': 'JSONRPC'}


async def connect(hubs, name, protocol, http):
    return Agent(f'{hubs[""]}/agents/{name}')


class Agent(framework.Agent):
    async def converse(self, *texts):
        run = await self._begin()
        return ['\n'.join(await run(Part(text=text))) for text in texts]

    async def send_file(self, text, name, media_type, content):
        run = await self._begin()
        file = Part(inline_data=Blob(data=content, mime_type=media_type, display_name=name))
        return '\n'.join(await run(Part(text=text), file))

    async def send_link(self, text, url, media_type):
        run = await self._begin()
        return '\n'.join(await run(Part(text=text), Part(file_data=FileData(file_uri=url, mime_type=media_type))))

    async def stream(self, text):
        run = await self._begin()
        return await run(Part(text=text), partial=True)

    async def progress(self, text):
        run = await self._begin()
        return await run(Part(text=text))

    async def _begin(self):
        """Begins a session, in which a task that asks goes on with the next message."""
        agent = RemoteA2aAgent(name='remote', agent_card=f'{self.url}/.well-known/agent-card.json')
        runner = InMemoryRunner(agent=agent, app_name='interop')
        session = await runner.session_service.create_session(app_name='interop', user_id='user')

        async def run(*parts, partial=None):
            texts = []
            message = Content(role='user', parts=list(parts))
            async for event in runner.run_async(user_id='user', session_id=session.id, new_message=message):
                assert not event.error_message, event.error_message
                if partial is None or event.partial == partial:
                    texts += filter(None, map(_text_of, event.content.parts if event.content else []))
            return texts

        return run


def _text_of(part):
    """A question is shown as a call of a function, with the question as its argument."""
    return part.function_call.args['input_required'] if part.function_call else part.text
