"""The server of this release of the SDK."""

from agent import card, handler, json_rpc


async def application(url):
    """Returns what answers at the URL, and the other origins that its card leads to."""
    return json_rpc(card(url), handler()), []
