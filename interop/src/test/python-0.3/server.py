"""The server of this release of the SDK."""

import grpc.aio

from a2a.grpc.a2a_pb2_grpc import add_A2AServiceServicer_to_server
from a2a.server.apps import A2ARESTFastAPIApplication
from a2a.server.request_handlers import GrpcHandler
from a2a.types import AgentInterface
from agent import card, handler, json_rpc
from client import BINDINGS
from starlette.applications import Starlette
from starlette.routing import Mount


async def application(url):
    """Returns what answers at the URL, and the other origins that its card leads to."""
    rpc_server = grpc.aio.server()
    rpc_port = rpc_server.add_insecure_port('127.0.0.1:0')
    urls = {'jsonrpc': url, 'rest': f'{url}/rest', 'grpc': f'127.0.0.1:{rpc_port}'}
    shown = card(
        url,
        additional_interfaces=[
            AgentInterface(url=urls[name], transport=transport) for name, transport in BINDINGS.items()
        ],
    )
    requests = handler()
    add_A2AServiceServicer_to_server(GrpcHandler(shown, requests), rpc_server)
    await rpc_server.start()
    rest = A2ARESTFastAPIApplication(shown, requests).build()
    app = Starlette(routes=[Mount('/rest', rest), Mount('/', json_rpc(shown, requests))])
    app.state.rpc_server = rpc_server  # it stops as soon as nobody holds it
    return app, [f'http://{urls["grpc"]}']
