"""A TCP proxy that delays, throttles, stalls, corrupts, cuts and resets connections."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator

CHUNK = 1024  # bytes: on a slow link, each waits for a moment only
NO_LINGER = struct.pack("ii", 1, 0)  # a socket with it ends by a reset


class Proxy:
    """Passes bytes to a server, as slowly as its fields say. Change them at any time."""

    def __init__(self, target: str, tls: ssl.SSLContext | None = None) -> None:
        """Prepare for the address of a server, such as `http://127.0.0.1:4567`.

        With `tls`, clients speak TLS to the proxy, and the server receives clear text.
        """
        self._target = urlsplit(target)
        self._tls = tls
        self._loop = asyncio.new_event_loop()
        self._to_clients: set[asyncio.StreamWriter] = set()
        self._to_server: set[asyncio.StreamWriter] = set()
        self.delay_seconds = 0.0
        """Pause before each KiB."""
        self.bytes_per_second = float("inf")
        """Of each connection and direction."""
        self.corrupt_share = 0.0
        """Share of the chunks of up to 1 KiB in which a bit changes, from 0 to 1."""
        self.corrupted = 0
        """Number of these chunks so far."""
        self._flow = asyncio.Event()
        self._flow.set()
        self.is_refusing = False
        """Whether it closes new connections at once."""
        self.endpoint = ""

    def calm(self) -> None:
        """Pass everything at once."""
        self.delay_seconds, self.bytes_per_second = 0.0, float("inf")
        self.is_refusing, self.corrupt_share = False, 0.0
        self._loop.call_soon_threadsafe(self._flow.set)

    def stall(self) -> None:
        """Keep all connections open, and pass nothing, until `calm`."""
        self._loop.call_soon_threadsafe(self._flow.clear)

    def reset(self) -> int:
        """Reset all connections, and return the number of their ends."""
        return self._each(_reset, self._to_clients | self._to_server)

    def cut(self) -> int:
        """Close all connections, in the middle of whatever they carry."""
        return self._each(lambda it: it.close(), self._to_clients | self._to_server)

    def half_close(self) -> int:
        """End the direction to the server of each connection; the other one stays open."""
        return self._each(_end, self._to_server)

    def _each(
        self, act: Callable[[asyncio.StreamWriter], None], writers: set[asyncio.StreamWriter]
    ) -> int:
        async def act_on_all() -> int:
            for writer in writers:
                with suppress(OSError):
                    act(writer)
            return len(writers)

        return asyncio.run_coroutine_threadsafe(act_on_all(), self._loop).result()

    @contextmanager
    def running(self) -> Iterator[Proxy]:
        """Listen on any free port, and close all connections at the end."""
        thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        thread.start()
        starting = asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        server = asyncio.run_coroutine_threadsafe(starting, self._loop).result()
        scheme = "https" if self._tls else self._target.scheme
        self.endpoint = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            self._loop.call_soon_threadsafe(server.close)
            self.reset()
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join()
            self._loop.run_until_complete(self._ended())
            self._loop.close()

    async def _ended(self) -> None:
        """End all connections."""
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for it in others:
            it.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_refusing:
            _reset(writer)
            return
        try:
            server = await asyncio.open_connection(self._target.hostname, self._target.port)
        except OSError:
            _reset(writer)
            return
        self._to_clients.add(writer)
        self._to_server.add(server[1])
        try:
            # At the end of this proxy. Otherwise, asyncio prints the error.
            with suppress(asyncio.CancelledError):
                await asyncio.gather(self._pump(reader, server[1]), self._pump(server[0], writer))
        finally:
            self._to_clients.remove(writer)
            self._to_server.remove(server[1])
            for it in (writer, server[1]):
                it.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, RuntimeError):  # after a half-close, a write is a RuntimeError
            while data := await reader.read(CHUNK):
                await asyncio.sleep(self.delay_seconds + len(data) / self.bytes_per_second)
                await self._flow.wait()
                writer.write(self._passed(data))
                await writer.drain()
            _end(writer)

    def _passed(self, data: bytes) -> bytes:
        if random.random() >= self.corrupt_share:
            return data
        self.corrupted += 1
        changed = bytearray(data)
        changed[random.randrange(len(data))] ^= 1 << random.randrange(8)
        return bytes(changed)


def _reset(writer: asyncio.StreamWriter) -> None:
    if connection := writer.get_extra_info("socket"):  # TLS that has ended has none
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    writer.transport.abort()


def _end(writer: asyncio.StreamWriter) -> None:
    if writer.is_closing():
        return
    if writer.can_write_eof():
        writer.write_eof()
    else:  # TLS ends both directions
        writer.close()
