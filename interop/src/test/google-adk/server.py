"""An agent of the Agent Development Kit without a model, served by its `to_a2a`."""

import asyncio

from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import BaseAgent
from google.adk.events import Event
from google.genai.types import Content, FunctionCall, Part


async def application(url):
    port = int(url.rsplit(':', 1)[1])
    agent = Handyman(name='handyman', description='Does what it is told')
    return to_a2a(agent, host='127.0.0.1', port=port), []


class Handyman(BaseAgent):
    """Counts, asks, waits until it is canceled, or returns the parts that it was sent, as the first text says."""

    async def _run_async_impl(self, context):
        def event(*parts, **more):
            content = Content(role='model', parts=list(parts))
            return Event(invocation_id=context.invocation_id, author=self.name, content=content, **more)

        first, *files = context.user_content.parts
        if first.text == 'count':
            for number in ['1', '2', '3']:
                yield event(Part(text=number))
        elif first.text == 'ask':
            question = FunctionCall(id='question', name='ask', args={'question': 'What?'})
            yield event(Part(function_call=question), long_running_tool_ids={'question'})
        elif first.text == 'wait':
            yield event(Part(text='waiting'))
            await asyncio.Event().wait()
        else:
            yield event(first, *files)
