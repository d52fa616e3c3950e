# /// script
# requires-python = ">=3.10"
# dependencies = ["mcp==2.3.0", "openai==2.54.0"]
# ///
"""Asks a model that has all agents of a hub as tools."""

import asyncio
import json
import os
import re
import subprocess
import sys

from mcp import Client
from openai import AsyncOpenAI

NAME = os.environ.get('MODEL_NAME', 'llama3.2')
QUESTION = 'Count to 3, then let an agent echo "done".'


async def ask(hub, question):
    model = AsyncOpenAI(
        base_url=os.environ.get('MODEL_URL', 'http://localhost:11434/v1'), api_key=os.environ.get('MODEL_KEY', 'none'))
    messages = [{'role': 'user', 'content': question}]
    async with Client(f'{hub}/mcp') as agents:
        tools = [tool_of(tool) for tool in (await agents.list_tools()).tools]
        print('tools:', ', '.join(tool['function']['name'] for tool in tools), flush=True)
        while True:
            answer = await model.chat.completions.create(model=NAME, messages=messages, tools=tools)
            message = answer.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                result = await agents.call_tool(call.function.name, json.loads(call.function.arguments))
                text = '\n'.join(part.text for part in result.content if part.type == 'text')
                print(f'{call.function.name} {call.function.arguments}: {text}', flush=True)
                messages.append({'role': 'tool', 'tool_call_id': call.id, 'content': text})


def tool_of(tool):
    return {
        'type': 'function',
        'function': {'name': tool.name, 'description': tool.description or '', 'parameters': tool.input_schema},
    }


def main():
    """Starts a hub with the demo agents, unless HUB_URL names one."""
    question = ' '.join(sys.argv[1:]) or QUESTION
    if url := os.environ.get('HUB_URL'):
        print(asyncio.run(ask(url, question)))
        return
    command = ['parley', 'up', '--in-memory', '--port', '0']
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as hub:
        try:
            [url] = re.findall(r'http://[^\s/]+', next(line for line in hub.stdout if 'http://' in line))[:1]
            print(asyncio.run(ask(url, question)))
        finally:
            hub.terminate()


main()
