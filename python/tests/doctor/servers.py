"""Servers for the way to an endpoint: one with TLS, and a proxy."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DAY = timedelta(days=1)


class Quiet(BaseHTTPRequestHandler):
    """Answers, and does not log."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Refuse, as Kinesis does, with the time."""
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Do not log."""


class Proxy(Quiet):
    """Lets a client with the right password through."""

    def do_CONNECT(self) -> None:
        """Copy the bytes of both sides until one ends."""
        if self.headers.get("Proxy-Authorization") != "Basic dXNlcjpwYXNz":  # user:pass
            self.send_error(407)
            return
        host, _, port = self.path.rpartition(":")
        with socket.create_connection((host, int(port))) as other:
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=_copy, args=(other, self.connection))
            back.start()
            _copy(self.connection, other)
            back.join()
        self.close_connection = True


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):  # a side has gone
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@contextmanager
def serving(handler: type[Quiet], context: ssl.SSLContext | None = None) -> Iterator[int]:
    """A server in a thread. Gives its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def certified(folder: Path, *protocols: str) -> ssl.SSLContext:
    """A server's context, with a certificate for 127.0.0.1 in ``folder/server.pem``."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test")])
    now = datetime.now(timezone.utc)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - _DAY)
        .not_valid_after(now + _DAY)
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(private)
    (folder / "server.pem").write_bytes(made.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "key.pem")
    context.set_alpn_protocols(list(protocols))
    return context
