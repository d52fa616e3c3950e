"""A webhook on a free port of this machine."""

import asyncio
import http.server
import json
import threading

class Webhook:
    """What it has received is in `received`: pairs of headers and what `read` makes of the JSON, in order."""

    def __init__(self, read):
        self.received = []
        self._arrived = asyncio.Condition()
        self._loop = asyncio.get_running_loop()
        webhook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                event = read(json.loads(body))
                asyncio.run_coroutine_threadsafe(webhook._receive(self.headers, event), webhook._loop).result()
                self.send_response(204)
                self.end_headers()

            def log_message(self, *args):
                pass

        self._server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self._server.server_port}/webhook'

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *args):
        self._server.shutdown()
        self._server.server_close()

    async def until(self, wanted):
        """Waits until an event has come that `wanted` holds of."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: any(wanted(event) for _, event in self.received))

    async def _receive(self, headers, event):
        async with self._arrived:
            self.received.append((headers, event))
            self._arrived.notify_all()
