"""The load: the producer of the application, undated events, and payloads of CloudWatch Logs."""

from __future__ import annotations

import gzip
import json
import sys
import threading
import uuid
from typing import TYPE_CHECKING, Any

from log_processing.delivery.clock import now_ms

from .program import Program

if TYPE_CHECKING:
    from pathlib import Path

    from spark_kinesis.local import LocalKinesis

ERRORS, GARBAGE = 0.01, 0.01
PERIOD_SECONDS = 0.5
PAYLOAD_EVENTS = 5
UNDATED = {"timestamp": "yesterday", "level": "INFO", "service": "mail", "message": "no time"}
NAMES = {"messageType": "DATA_MESSAGE", "owner": "123456789012"}


class Traffic:
    """Writes events until ``stop``.

    Args:
        kinesis: local Kinesis.
        stream: name of the stream.
        rate: records per second of the producer.
        folder: folder for logs.
    """

    def __init__(self, kinesis: LocalKinesis, stream: str, rate: float, folder: Path) -> None:
        """Start to write."""
        self._kinesis, self._stream = kinesis, stream
        options = {
            "--stream": stream,
            "--endpoint": kinesis.endpoint,
            "--rate": f"{rate:g}",
            "--errors": f"{ERRORS:g}",
            "--garbage": f"{GARBAGE:g}",
        }
        words = [word for option in options.items() for word in option]
        command = [sys.executable, "-m", "log_processing.producer", *words]
        keys = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
        self._producer = Program("the producer", command, folder / "producer.log", keys)
        self._ended = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._put_others, daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise the error of the producer or of the thread, if there is one."""
        self._producer.check()
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Stop to write. All requests have ended when it returns."""
        self._ended.set()
        self._producer.stop()
        self._thread.join()

    def _put_others(self) -> None:
        undated = json.dumps(UNDATED)
        try:
            while not self._ended.wait(PERIOD_SECONDS):
                key = str(uuid.uuid4())
                self._kinesis.put(self._stream, [(key, payload()), (key, undated)])
        except Exception as error:  # noqa: BLE001 raised by check
            self._error = error


def payload() -> bytes:
    """A payload of CloudWatch Logs. One of its events has no time, and one is JSON of ours."""
    time_ms = now_ms()
    events: list[dict[str, Any]] = [
        {"id": str(uuid.uuid4()), "timestamp": time_ms, "message": f"INFO line {number}"}
        for number in range(PAYLOAD_EVENTS)
    ]
    context = {"request": str(uuid.uuid4())}
    event = {"level": "warn", "service": "billing", "message": "slow", "context": context}
    events[1]["message"] = json.dumps(event)
    events[2]["message"] = "ERROR cannot write to disk"
    del events[3]["timestamp"]  # a bad event in the middle of good ones
    place = {"logGroup": "/aws/lambda/invoices", "logStream": "trial"}
    return gzip.compress(json.dumps({**NAMES, **place, "logEvents": events}).encode())
