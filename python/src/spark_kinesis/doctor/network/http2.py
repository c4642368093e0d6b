"""Does a server without TLS speak HTTP/2?

RFC 9113: a client with prior knowledge sends a preface and a SETTINGS frame, and the server's first
frame is SETTINGS, too.
"""

from __future__ import annotations

import socket

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_NO_SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_HEAD, _KIND, _SETTINGS = 9, 3, 4


def speaks_http2(host: str, port: int, timeout: float) -> bool | None:
    """Begin a connection with HTTP/2.

    Args:
        host: host name.
        port: port.
        timeout: seconds to wait for each answer.

    Returns:
        Whether the server answers with HTTP/2. ``None`` if it does not answer.
    """
    head = b""
    try:
        with socket.create_connection((host, port), timeout) as connection:
            connection.sendall(_PREFACE + _NO_SETTINGS)
            while len(head) < _HEAD:
                more = connection.recv(_HEAD - len(head))
                if not more:
                    return False
                head += more
    except ConnectionError:
        return False
    except OSError:
        return None
    return head[_KIND] == _SETTINGS and head[5:] == bytes(4)
