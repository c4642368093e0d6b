"""The dashboard: one page, for this computer only.

python -m log_processing.dashboard --table log-processing --name log-processing
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from .progress import PROGRESS
from .sending import client
from .table import now_ms, time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = Path(__file__).with_name("page.html")
MINUTES = 15


def batches(dynamodb: Any, table: str, name: str) -> list[Any]:
    """The micro-batches of the last 15 minutes, the oldest first.

    A micro-batch that ran again is there once, with its last run.

    Args:
        dynamodb: client of boto3.
        table: name of the table.
        name: name of the job.
    """
    first = time_text((now_ms() - MINUTES * 60_000) * 1000)
    pages = dynamodb.get_paginator("query").paginate(
        TableName=table,
        KeyConditionExpression="pk = :pk AND sk >= :first",
        ExpressionAttributeValues={":pk": {"S": PROGRESS + name}, ":first": {"S": first}},
    )
    found = [json.loads(it["progress"]["S"]) for page in pages for it in page["Items"]]
    return list({(it["query"], it["batch"]): it for it in found}.values())


class Handler(BaseHTTPRequestHandler):
    """Answers with the page, and with the figures as JSON.

    Args:
        dynamodb: client of boto3.
        table: name of the table.
        name: name of the job.
    """

    def __init__(self, dynamodb: Any, table: str, name: str, *args: Any) -> None:
        """Answer a request."""
        self._read = partial(batches, dynamodb, table, name)
        super().__init__(*args)

    def do_GET(self) -> None:
        """Answer a request of the browser."""
        # Another site cannot read this page under a name of its own.
        if self.headers.get("Host", "").partition(":")[0] not in ("127.0.0.1", "localhost"):
            self.send_error(403)
        elif self.path == "/":
            self._answer(200, "text/html; charset=utf-8", PAGE.read_bytes())
        elif self.path == "/batches.json":
            try:
                status, answer = 200, json.dumps(self._read())
            except (BotoCoreError, ClientError) as error:
                status, answer = 502, json.dumps({"error": str(error)})
            self._answer(status, "application/json", answer.encode())
        else:
            self.send_error(404)

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing per request."""


def server(dynamodb: Any, table: str, name: str, port: int) -> ThreadingHTTPServer:
    """A server on this computer, which does not serve yet. With port 0, it chooses one."""
    handler = partial(Handler, dynamodb, table, name)
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve the page until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="log_processing.dashboard", description="Serve the page.")
    parser.add_argument("--table", required=True, help="name of the table")
    parser.add_argument("--name", default="logs", help="name of the job (default: logs)")
    parser.add_argument("--port", type=int, default=8080, help="port; 0 chooses one")
    parser.add_argument("--region", help="AWS region (default: from the AWS SDK)")
    parser.add_argument("--dynamodb-endpoint", help="URL of another server, for tests")
    asked = parser.parse_args(arguments)
    try:
        dynamodb = client("dynamodb", asked.region, asked.dynamodb_endpoint, attempts=3)
    except BotoCoreError as error:
        print(f"dashboard: {error} Set --region.", file=sys.stderr)
        return 1
    with server(dynamodb, asked.table, asked.name, asked.port) as page:
        print(f"dashboard: http://127.0.0.1:{page.server_port}/", flush=True)
        try:
            page.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
