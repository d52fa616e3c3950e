"""An agent of CrewAI, with a script in the place of its model, served by the functions that it has for that."""

import re

from client import BINDINGS  # noqa: F401  which prepares the environment

from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentSkill
from crewai import Agent
from crewai.a2a import A2AServerConfig
from crewai.a2a.utils.task import cancel, execute
from crewai.llms.base_llm import BaseLLM


# The functions pass texts on, complete every task, and tell nothing of it before: no caller has its id in time.
LACKS = ['send a file', 'send the URL of a file', 'question and answer', 'cancel', 'push configs']


class Script(BaseLLM):
    """Counts, or returns the text that it was sent."""

    def call(self, messages, *args, **more):
        return f'Thought: I know\nFinal Answer: {self._answer(messages)}'

    async def acall(self, messages, *args, **more):
        return self.call(messages)

    def _answer(self, messages):
        text = re.search('Current Task: (.*)', messages[-1]['content'])[1].strip()
        return '1 2 3' if text == 'count' else text


class Executor(AgentExecutor):
    def __init__(self, agent):
        self._agent = agent

    async def execute(self, context, event_queue):
        await execute(self._agent, context, event_queue)

    async def cancel(self, context, event_queue):
        await cancel(context, event_queue)


async def application(url):
    served = A2AServerConfig(
        name='handyman',
        description='Does what it is told',
        capabilities=AgentCapabilities(streaming=True),
        skills=[AgentSkill(id='do', name='Do', description='Does it', tags=['test'])],
    )
    agent = Agent(role='handyman', goal='To help', backstory='A handyman', llm=Script(model='script'), a2a=served)
    handler = DefaultRequestHandler(Executor(agent), InMemoryTaskStore())
    return A2AStarletteApplication(agent.to_agent_card(url), handler).build(), []
