"""The HTTP session that the clients of one run share."""

import httpx


def open_session(seconds):
    return httpx.AsyncClient(timeout=seconds)
