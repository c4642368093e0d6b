"""A proxy before a server on this machine, which a test closes, or which throttles requests."""

from __future__ import annotations

import http.client
import json
import random
import threading
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import socket

TARGET = "X-Amz-Target"
WRITE = "DynamoDB_20120810.BatchWriteItem"
THROTTLED = "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"
Reply = tuple[int, bytes]


class Gate:
    """Forwards requests to a server while it is open.

    Args:
        server: URL of the server.
        refused: share of DynamoDB's ``BatchWriteItem`` requests that it refuses. Every second one
            is refused as a whole. Of the others, it forwards the first half of the items, and
            returns the rest as ``UnprocessedItems``.
        seed: number that makes the choice repeatable.
    """

    def __init__(self, server: str, refused: float = 0.0, seed: int = 0) -> None:
        """Open on a free port."""
        self.address = urlsplit(server).netloc
        self.seen: Counter[str] = Counter()
        self._refused, self._chance = refused, random.Random(seed)  # noqa: S311
        self._lock = threading.Lock()
        self._port = 0
        self._server: _Server | None = None
        self.open()

    @property
    def url(self) -> str:
        """Its URL, the same after it was closed."""
        return f"http://127.0.0.1:{self._port}"

    def open(self) -> None:
        """Accept connections."""
        self._server = _Server(("127.0.0.1", self._port), _Handler)
        self._server.gate = self
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """End all connections. New ones are refused."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server.end_connections()
            self._server = None

    def answer(self, target: str, body: bytes, forward: Any) -> Reply:
        """The answer to a request, which ``forward`` sends to the server."""
        kind = self._kind(target)
        if kind == "throttled":
            return 400, json.dumps({"__type": THROTTLED, "message": "slower"}).encode()
        if kind == "halved":
            return _halved(body, forward)
        return forward(body)  # type: ignore[no-any-return]

    def _kind(self, target: str) -> str:
        with self._lock:
            is_refused = target == WRITE and self._chance.random() < self._refused
            whole = self._chance.choice((True, False))
            kind = ("throttled" if whole else "halved") if is_refused else "forwarded"
            self.seen[kind if target == WRITE else "other"] += 1
        return kind


def _halved(body: bytes, forward: Any) -> Reply:
    request = json.loads(body)
    ((table, items),) = request["RequestItems"].items()
    now, later = items[: len(items) // 2], items[len(items) // 2 :]
    status, answer = 200, b"{}"
    if now:
        status, answer = forward(json.dumps({**request, "RequestItems": {table: now}}).encode())
    if status != http.client.OK:
        return status, answer
    left = json.loads(answer).get("UnprocessedItems", {}).get(table, [])
    return status, json.dumps({"UnprocessedItems": {table: left + later}}).encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    gate: Gate

    def __init__(self, *arguments: Any) -> None:
        self._connections: set[socket.socket] = set()
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def end_connections(self) -> None:
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(2)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server
    dropped: ClassVar = {"host", "content-length", "connection", "accept-encoding"}

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        gate = self.server.gate
        status, answer = gate.answer(self.headers.get(TARGET, ""), body, self.forward)
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def forward(self, body: bytes) -> Reply:
        connection = http.client.HTTPConnection(self.server.gate.address, timeout=30)
        try:
            headers = {k: v for k, v in self.headers.items() if k.lower() not in self.dropped}
            connection.request("POST", self.path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""
