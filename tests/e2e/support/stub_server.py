"""Endpoints in place of Kinesis: one refuses every request, and one never answers."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "127.0.0.1"
CBOR = "application/x-amz-cbor-1.1"


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serves requests in threads of its own. Yields the endpoint."""
    with ThreadingHTTPServer((HOST, 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://{HOST}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def refusing(code: str, message: str, *, status: int = 400) -> Iterator[str]:
    """Answers each request with the same error, in CBOR. Yields the endpoint."""
    body = b"\xa2" + b"".join(map(cbor_text, ("__type", code, "message", message)))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(status)
            self.send_header("Content-Type", CBOR)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Do not log."""

    with serving(Handler) as endpoint:
        yield endpoint


def cbor_text(text: str) -> bytes:
    """A short text in CBOR."""
    encoded = text.encode()
    return bytes([0x78, len(encoded)]) + encoded


@contextmanager
def silent() -> Iterator[str]:
    """Accepts connections, and never answers. Yields the endpoint."""
    with socket.create_server((HOST, 0), backlog=128) as server:
        yield f"http://{HOST}:{server.getsockname()[1]}"
