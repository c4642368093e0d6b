"""Starts the server of the dashboard."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Mapping, Sequence

from botocore.exceptions import BotoCoreError
from werkzeug.serving import BaseWSGIServer, make_server

from log_processing.delivery.aws_errors import missing_setting
from log_processing.delivery.clients import client
from log_processing.options import add_options
from log_processing.settings import TableSettings

from .feed import BatchFeed
from .web import create_app

SUCCESS, FAILED = 0, 1
ATTEMPTS = 2  # the page asks again every second
LAST_PORT = 65_535


def port(text: str) -> int:
    """A port of the command line.

    Raises:
        argparse.ArgumentTypeError: if it is not a port.
    """
    if not text.isdecimal() or int(text) > LAST_PORT:
        raise argparse.ArgumentTypeError(f"'{text}' is not a port from 0 to {LAST_PORT}")
    return int(text)


def start(arguments: Sequence[str], environment: Mapping[str, str]) -> BaseWSGIServer:
    """A server that listens, but does not answer yet."""
    parser = argparse.ArgumentParser(
        prog="log_processing.dashboard", description="Serve a web page that shows the job at work."
    )
    add_options(parser, TableSettings, environment)
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on (default: 127.0.0.1, this machine only). The page has no login.",
    )
    parser.add_argument("--port", type=port, default=8050, help="port (default: 8050; 0: any)")
    given = parser.parse_args(arguments)
    dynamodb = client("dynamodb", given.region, given.dynamodb_endpoint, attempts=ATTEMPTS)
    feed = BatchFeed(dynamodb, table=given.table, job=given.name)
    return make_server(given.host, given.port, create_app(feed), threaded=True)


def main(
    arguments: Sequence[str] = tuple(sys.argv[1:]), environment: Mapping[str, str] = os.environ
) -> int:
    """Serve until the program is stopped. Returns 0 then, and 1 if it cannot start."""
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # no line per request
    try:
        server = start(arguments, environment)
    except BotoCoreError as error:
        print(f"dashboard: {missing_setting(error) or error}", file=sys.stderr)
        return FAILED
    print(f"dashboard: http://{server.host}:{server.port}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
    return SUCCESS
