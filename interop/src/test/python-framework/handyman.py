"""What frameworks do with the agent of `serve` behind each route of a gateway."""

from client import BINDINGS  # noqa: F401
from operations import contains


async def send(agent):
    contains(await agent.send('Grüße, 世界 🌍'), 'Grüße, 世界 🌍')


async def question(agent):
    asked, answered = await agent.converse('ask', 'blue')
    contains(asked, 'What?')
    contains(answered, 'blue')


AGENTS_AT_A_TIME = 1  # some tell events to the whole process
OPERATIONS = {'send': send, 'question': question}
