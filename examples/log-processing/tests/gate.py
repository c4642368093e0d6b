"""A gate before a server on this machine, which a test closes, as in an outage."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from urllib.parse import urlsplit


class Gate:
    """Forwards connections to a server while it is open.

    Args:
        server: URL of the server.
    """

    def __init__(self, server: str) -> None:
        """Open on a free port."""
        self._server = (str(urlsplit(server).hostname), int(urlsplit(server).port or 80))
        self._port = 0
        self._connections: list[socket.socket] = []
        self._listener: socket.socket | None = None
        self.open()
        self.url = f"http://127.0.0.1:{self._port}"

    def open(self) -> None:
        """Accept connections, on the same port each time."""
        self._listener = socket.create_server(("127.0.0.1", self._port), reuse_port=False)
        self._port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def close(self) -> None:
        """End all connections. New ones are refused."""
        listener, self._listener = self._listener, None
        for one in [*self._connections, *([listener] if listener else [])]:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._connections.clear()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):  # it is closed
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(self._server)
                self._connections += [near, far]
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=_copy, args=pair, daemon=True).start()


def _copy(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(65_536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
