"""How agents are called with the AgentVault library: one binding for each scheme by which it says who calls."""

from importlib.metadata import version

from agentvault import AgentVaultClient, KeyManager
from agentvault.agent_card_utils import fetch_agent_card_from_url


CLIENT = f'AgentVault library {version("agentvault")}'
DIALECT = 'AgentVault 0.2'
BINDINGS = {'none': '', 'apiKey': 'apiKey', 'oauth2': 'oauth2'}

NO_KEYS = KeyManager(use_env_vars=False)
KEYS = KeyManager('keys.json', use_env_vars=False)
WRONG_KEYS = KeyManager('wrong-keys.json', use_env_vars=False)


async def connect(hubs, name, scheme, http):
    url = f'{hubs[scheme]}/agents/{name}/agentvault'
    return Agent(await fetch_agent_card_from_url(url), KEYS if scheme else NO_KEYS)


class Agent:
    """An agent, and the keys that are shown to it."""

    def __init__(self, card, keys):
        self.card = card
        self._keys = keys
        self._client = AgentVaultClient()

    def with_keys(self, keys):
        return Agent(self.card, keys)

    async def initiate(self, message, **more):
        return await self._client.initiate_task(self.card, message, self._keys, **more)

    async def send(self, task_id, message):
        return await self._client.send_message(self.card, task_id, message, self._keys)

    async def get(self, task_id):
        return await self._client.get_task_status(self.card, task_id, self._keys)

    async def cancel(self, task_id):
        return await self._client.terminate_task(self.card, task_id, self._keys)

    def events(self, task_id):
        return self._client.receive_messages(self.card, task_id, self._keys)
