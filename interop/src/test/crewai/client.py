"""An agent of CrewAI that delegates to a remote one, with a script in the place of its model."""

import asyncio
import os

from importlib.metadata import version

os.environ.update(CREWAI_DISABLE_TELEMETRY='true', CREWAI_TRACING_ENABLED='false', OTEL_SDK_DISABLED='true')

import agent as framework  # noqa: E402

from crewai import Agent as CrewAgent  # noqa: E402
from crewai.a2a import A2AClientConfig  # noqa: E402
from crewai.a2a.updates import PushNotificationConfig  # noqa: E402
from crewai.events import crewai_event_bus  # noqa: E402
from crewai.events.types.a2a_events import (  # noqa: E402
    A2AAgentCardFetchedEvent,
    A2APushNotificationRegisteredEvent,
    A2AResponseReceivedEvent,
)
from crewai.llms.base_llm import BaseLLM  # noqa: E402


CLIENT = f'crewai {version("crewai")}'
DIALECT = '0.3'
BINDINGS = {'': 'JSONRPC'}


async def connect(hubs, name, protocol, http):
    return Agent(f'{hubs[""]}/agents/{name}')


class Script(BaseLLM):
    """Delegates each text, and ends with the last answer."""

    texts: list[str]
    endpoint: str

    def call(self, messages, *args, response_model=None, **more):
        if self.texts:
            step = {'is_a2a': True, 'message': self.texts.pop(0), 'a2a_ids': [self.endpoint]}
        else:
            step = {'is_a2a': False, 'message': 'done', 'a2a_ids': []}
        return response_model.model_validate(step)

    async def acall(self, messages, *args, **more):
        return self.call(messages, *args, **more)


class Results:
    """Where CrewAI looks for the results that webhooks bring: there are none, as `operations` has the webhook."""

    async def wait_for_result(self, task_id, timeout, poll_interval=1.0):
        return None


class Agent(framework.Agent):
    async def card(self):
        [event, *_] = await self._delegate(A2AAgentCardFetchedEvent, 'hello')
        return event.a2a_agent_name

    async def send(self, text):
        return (await asyncio.to_thread(self._run, [text], {})).raw

    async def converse(self, *texts):
        return [event.response for event in await self._delegate(A2AResponseReceivedEvent, *texts)]

    async def webhook(self, text, url):
        push = PushNotificationConfig(url=url, result_store=Results())
        await self._delegate(A2APushNotificationRegisteredEvent, text, updates=push)

    async def _delegate(self, kind, *texts, **more):
        """Delegates the texts one after the other; returns the events of a kind."""
        events = []
        with crewai_event_bus.scoped_handlers():
            crewai_event_bus.on(kind)(lambda _, event: events.append(event))
            await asyncio.to_thread(self._run, list(texts), more)
            crewai_event_bus.flush()
        return events

    def _run(self, texts, more):
        endpoint = f'{self.url}/.well-known/agent-card.json'
        remote = A2AClientConfig(endpoint=endpoint, trust_remote_completion_status=True, **more)
        script = Script(model='script', texts=texts, endpoint=endpoint)
        caller = CrewAgent(role='caller', goal='To call', backstory='A caller', llm=script, a2a=remote)
        return caller.kickoff('Call the remote agent')
