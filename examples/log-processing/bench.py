"""Speed and memory of one task: ``python bench.py``.

Runs the function that a Spark task runs, on events in memory, against a server on this machine that
accepts everything at once, or with `--dynamodb-local` against DynamoDB Local. Prints events per
second and per second of processor time, the share of the processor time that boto3 takes, and the
peak of the memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from log_processing.delivery.clients import client
from log_processing.events.event import KinesisRecord
from log_processing.partition import process_partition
from log_processing.settings import Settings
from log_processing.summary import from_json

ARROW_RECORDS = 200
ONE_ERROR_IN = 100
SETTINGS = Settings(
    table="logs", streams="logs", bus="alerts", checkpoint="none", bad_events="none"
)


class AcceptsAll(BaseHTTPRequestHandler):
    """Answers each request of DynamoDB and EventBridge that all entries are accepted."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer in one write, so that no part waits for another packet."""
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"UnprocessedItems":{},"FailedEntryCount":0,"Entries":[]}'
        head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\n"
        self.wfile.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    def log_message(self, *_: Any) -> None:
        """Print nothing per request."""


class BotoTime:
    """The processor time in the calls of boto3, over all threads."""

    def __init__(self, boto: Any, method: str) -> None:
        """Measure a method of a client from now on."""
        self.seconds = 0.0
        self._lock = threading.Lock()
        self._call = getattr(boto, method)
        setattr(boto, method, self)

    def __call__(self, **request: Any) -> Any:
        """Make the call."""
        begun = time.thread_time()
        try:
            return self._call(**request)
        finally:
            with self._lock:
                self.seconds += time.thread_time() - begun


def batches(events: int, message_bytes: int) -> Iterator[Any]:
    """Batches of Arrow, as Spark gives them to a task."""
    import pyarrow as pa  # noqa: PLC0415 slow to load

    names = list(KinesisRecord.__dataclass_fields__)
    now_ms = time.time_ns() // 1_000_000
    for first in range(0, events, ARROW_RECORDS):
        numbers = range(first, min(first + ARROW_RECORDS, events))
        columns = [
            ["logs"] * len(numbers),
            ["shardId-000000000000"] * len(numbers),
            [f"4966200000000000000000000000000000000000000000{n:09d}" for n in numbers],
            [0] * len(numbers),
            [now_ms] * len(numbers),
            [data(number, now_ms, message_bytes) for number in numbers],
        ]
        yield pa.RecordBatch.from_arrays([pa.array(column) for column in columns], names)


def data(number: int, now_ms: int, message_bytes: int) -> bytes:
    """An event with a text, four fields and a context of three."""
    message = f"payment of order {number} took 34 ms; "
    event = {
        "timestamp": now_ms,
        "level": "ERROR" if number % ONE_ERROR_IN == 0 else "INFO",
        "service": f"service-{number % 5}",
        "message": (message * (message_bytes // len(message) + 1))[:message_bytes],
        "context": {"request": f"0c7b2f1e-{number}", "user": "u-123", "region": "eu-west-1"},
    }
    return json.dumps(event).encode()


def measure(endpoint: str, dynamodb: str, events: int, message_bytes: int, in_flight: int) -> str:
    """Run a task, and describe what it took.

    Args:
        endpoint: URL of the server that accepts everything.
        dynamodb: URL of the server that stores the events.
        events: number of events.
        message_bytes: size of a message.
        in_flight: parallel requests.
    """
    settings = replace(SETTINGS, dynamodb_endpoint=dynamodb, events_endpoint=endpoint)
    settings = replace(settings, requests_in_flight=in_flight)
    boto = client("dynamodb", None, dynamodb, in_flight)
    of_boto = BotoTime(boto, "batch_write_item")
    given = batches(events, message_bytes)
    if message_bytes < ONE_ERROR_IN * 100:
        given = iter(list(given))  # making the events is not part of the work
    begun, begun_cpu = time.monotonic(), time.process_time()
    *_, last = process_partition(settings, given)
    wall, cpu = time.monotonic() - begun, time.process_time() - begun_cpu
    done = from_json(last.column(0)[0].as_py())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"{done.events} events of {message_bytes} bytes stored, {done.errors} of them errors: "
        f"{done.events / wall:.0f}/s, {done.events / cpu:.0f} per second of one core, "
        f"{of_boto.seconds / cpu:.0%} of it in boto3; peak memory {peak:.0f} MB"
    )


@contextmanager
def dynamodb_local() -> Iterator[str]:
    """Run DynamoDB Local, with the table. Returns its URL."""
    from log_processing.demo.resources import create_table  # noqa: PLC0415 with packages for tests
    from log_processing.demo.servers import start_dynamodb  # noqa: PLC0415

    with TemporaryDirectory() as folder:
        program, endpoint = start_dynamodb(Path(folder))
        try:
            create_table(client("dynamodb", "us-east-1", endpoint))
            yield endpoint
        finally:
            program.stop()


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--message-bytes", type=int, default=200)
    parser.add_argument("--requests-in-flight", type=int, default=8)
    parser.add_argument(
        "--dynamodb-local",
        action="store_true",
        help="store the events in DynamoDB Local, which `make demo-logs` builds",
    )
    parser.add_argument("--serve", action="store_true", help="run the server only")
    asked = parser.parse_args()
    if asked.serve:
        server = ThreadingHTTPServer(("127.0.0.1", 0), AcceptsAll)
        print(server.server_port, flush=True)
        server.serve_forever()
    command = [sys.executable, __file__, "--serve"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server_process,
        ExitStack() as stack,
    ):
        stack.callback(server_process.kill)
        assert server_process.stdout is not None
        endpoint = f"http://127.0.0.1:{int(server_process.stdout.readline())}"
        dynamodb = stack.enter_context(dynamodb_local()) if asked.dynamodb_local else endpoint
        sizes = asked.events, asked.message_bytes, asked.requests_in_flight
        print(measure(endpoint, dynamodb, *sizes))


if __name__ == "__main__":
    main()
