"""What is served with this library."""

from importlib.metadata import version


CLIENT = f'AgentVault server SDK {version("agentvault-server-sdk")}'
DIALECT = 'AgentVault 0.2'
BINDINGS = {'': 'JSONRPC'}  # it has one
