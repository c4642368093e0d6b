"""A server in place of a local Kinesis, and the answers it gives."""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, Any]


class Stub:
    """Gives prepared answers, and records the requests."""

    def __init__(self) -> None:
        """Listen on a free port."""
        self.answers: dict[str, list[Answer]] = {}
        self.asked: list[tuple[str, Any]] = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                """Answer."""
                target = self.headers.get("X-Amz-Target", "").rpartition(".")[2]
                name = target or f"{self.command} {self.path}"
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                stub.asked.append((name, json.loads(body) if body else None))
                if target:
                    assert "/us-east-1/kinesis/" in self.headers["Authorization"]
                status, answer = stub.next(name)
                sent = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            do_GET = do_DELETE = do_POST  # noqa: N815 http.server calls them so

            def log_message(self, *_: object) -> None:
                """Do not log."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    def next(self, name: str) -> Answer:
        """The next answer. The last one is given again and again."""
        if name == "GET /_simulator/clock" and name not in self.answers:
            return 200, {"now": time.time()}
        left = self.answers[name]
        return left.pop(0) if len(left) > 1 else left[0]

    def say(self, name: str, *answers: Answer) -> None:
        """Prepare the answers to the requests of one name."""
        self.answers[name] = list(answers)

    def bodies(self, name: str) -> list[Any]:
        """The bodies of the requests of one name."""
        return [body for asked, body in self.asked if asked == name]


def refusal(code: str) -> Answer:
    """An error of the service."""
    return 400, {"__type": f"com.amazonaws.kinesis.v20131202#{code}", "message": "No."}


def shard(number: int, *, parent: int | None = None) -> dict[str, Any]:
    """An open shard in a description."""
    return {
        "ShardId": f"shardId-{number:012d}",
        "HashKeyRange": {"StartingHashKey": "0", "EndingHashKey": str(2**128 - 1)},
        "SequenceNumberRange": {"StartingSequenceNumber": "1"},
        **({} if parent is None else {"ParentShardId": f"shardId-{parent:012d}"}),
    }
