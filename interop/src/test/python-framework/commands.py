"""Command lines that print JSON of version 1.0 of the protocol."""

import asyncio
import json
import os
import subprocess

from agent import Agent


def printed(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class CommandLineAgent(Agent):
    environment = {}

    async def run(self, *command):
        """Returns all JSON values that a command prints; raises with what it says if it fails."""
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **self.environment},
        )
        try:
            output, errors = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
        assert process.returncode == 0, f'{command}: {errors.decode()} {output.decode()}'
        return values_in(output.decode())


def values_in(text):
    values, decoder = [], json.JSONDecoder()
    while text := text.lstrip():
        value, end = decoder.raw_decode(text)
        values.append(value)
        text = text[end:]
    return values


def state_of(task):
    return task['status']['state'].removeprefix('TASK_STATE_').lower().replace('_', '-')


def texts_of(value):
    """The texts of agents within some JSON, in order: of messages and artifacts."""
    if isinstance(value, list):
        return [text for item in value for text in texts_of(item)]
    if not isinstance(value, dict) or value.get('role') == 'ROLE_USER':
        return []
    own = [value['text']] if isinstance(value.get('text'), str) else []
    return own + [text for name, item in value.items() if name != 'history' for text in texts_of(item)]


def text_of(value):
    return '\n'.join(texts_of(value))
