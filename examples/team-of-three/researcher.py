# /// script
# requires-python = ">=3.10"
# dependencies = ["google-adk[a2a]==2.13.0", "openai==2.54.0"]
# ///
"""An agent of the Agent Development Kit (ADK), at the port of the first argument."""

import os
import sys

import uvicorn
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.genai.types import Content, Part
from openai import AsyncOpenAI

SERVER = AsyncOpenAI(
    base_url=os.environ.get('MODEL_URL', 'http://localhost:11434/v1'), api_key=os.environ.get('MODEL_KEY', 'none'))


class Model(BaseLlm):
    """A model behind the wire format of OpenAI."""

    async def generate_content_async(self, llm_request, stream=False):
        messages = [{'role': 'system', 'content': str(llm_request.config.system_instruction)}]
        for content in llm_request.contents:
            text = ''.join(part.text or '' for part in content.parts)
            messages.append({'role': 'assistant' if content.role == 'model' else 'user', 'content': text})
        answer = await SERVER.chat.completions.create(model=self.model, messages=messages)
        yield LlmResponse(content=Content(role='model', parts=[Part(text=answer.choices[0].message.content)]))


agent = LlmAgent(
    name='researcher',
    description='Collects facts on a subject',
    model=Model(model=os.environ.get('MODEL_NAME', 'llama3.2')),
    instruction='You are a researcher. List three facts on the subject.',
)
port = int(sys.argv[1])
uvicorn.run(to_a2a(agent, host='127.0.0.1', port=port), host='127.0.0.1', port=port)
