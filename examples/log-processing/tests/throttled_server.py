"""A DynamoDB on this machine that throttles its first requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from stored_events import MemoryTable


class ThrottledServer:
    """Throttles some requests, and then answers from a table in memory.

    Args:
        failures: number of requests that are throttled.
        items: content of the table.

    Attributes:
        throttled: number of requests that were throttled.
    """

    def __init__(self, *, failures: int, items: Iterable[dict[str, Any]] = ()) -> None:
        """Listen on a free port, with the content of a table."""
        self.throttled = 0
        self._failures, self._lock = failures, threading.Lock()
        self._table = MemoryTable(items)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, answer = outer._answer(request)
                body = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/x-amz-json-1.0")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def _answer(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        with self._lock:
            if self.throttled < self._failures:
                self.throttled += 1
                name = "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"
                return 400, {"__type": name, "message": "slow down"}
        return 200, self._table.query(**request)

    def __enter__(self) -> ThrottledServer:  # noqa: PYI034 Self is of Python 3.11
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
