# /// script
# requires-python = ">=3.11"
# dependencies = ["beeai-framework[a2a]==0.1.85"]
# ///
"""An agent of the BeeAI framework, at the port of the first argument."""

import os
import sys

from beeai_framework.adapters.a2a.serve.server import A2AServer, A2AServerConfig
from beeai_framework.adapters.openai import OpenAIChatModel
from beeai_framework.agents.requirement import RequirementAgent

model = OpenAIChatModel(
    os.environ.get('MODEL_NAME', 'llama3.2'),
    base_url=os.environ.get('MODEL_URL', 'http://localhost:11434/v1'),
    api_key=os.environ.get('MODEL_KEY', 'none'),
)
agent = RequirementAgent(
    llm=model,
    name='critic',
    description='Finds faults in a text',
    instructions='You are a critic. Name the weakest sentence of the text, and say why.',
)
server = A2AServer(config=A2AServerConfig(host='127.0.0.1', port=int(sys.argv[1])))
server.register(agent, name='critic', description='Finds faults in a text').serve()
