"""A server of moto that ends with its standard input."""

from __future__ import annotations

import sys

from moto.server import ThreadedMotoServer

READY = "listening on "


def main() -> None:
    """Serve on a free port of 127.0.0.1."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    print(f"{READY}http://{host}:{port}", flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main()
