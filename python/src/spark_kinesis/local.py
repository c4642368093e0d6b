"""A Kinesis on this machine, for demos and for your own tests: no Docker, no AWS account.

From Python::

    with LocalKinesis(streams={"orders": 2}) as kinesis:
        source = KinesisSource(stream_name="orders", **kinesis.access)

From a shell, until Ctrl-C::

    python -m spark_kinesis.local --stream orders:2 --port 4567

In a pytest test, the fixture ``kinesis``: see :mod:`spark_kinesis.pytest_plugin`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Literal, final

from ._address import Access
from ._endpoint import LocalEndpoint
from ._errors import LocalKinesisError
from ._faults import Fault, FaultName
from ._records import NewRecord, Record
from ._shards import Shard
from ._simulator import READY, Rules, command, ready_endpoint
from ._stats import Stats

__all__ = [
    "Access",
    "Fault",
    "FaultName",
    "LocalEndpoint",
    "LocalKinesis",
    "NewRecord",
    "Record",
    "Shard",
    "Stats",
]

_STOP_SECONDS = 10.0
_STREAM = "a stream to make; may be repeated"


@final
class LocalKinesis(LocalEndpoint):
    """A local Kinesis in a process of its own, on the loopback interface only.

    It ends with this Python process at the latest.

    Args:
        streams: name to number of shards, made at the start.
        port: 0 takes any free one.
        quotas: ``"aws"`` enforces the throughput and rate limits of AWS; default ``"off"``.
        persist: a folder to keep everything in, made if absent; default: in memory only.
        clock: ``"simulated"`` stands still until ``advance()``, to test retention and expiry in
            no time; default ``"system"``.
        list_lag: how long ``ListShards`` still shows the shards of before a reshard, as it may
            on AWS; default: not at all.
    """

    def __init__(
        self,
        *,
        streams: Mapping[str, int] | None = None,
        port: int = 0,
        quotas: Literal["aws", "off"] = "off",
        persist: Path | str | None = None,
        clock: Literal["system", "simulated"] = "system",
        list_lag: timedelta | None = None,
    ) -> None:
        """Remember what to start; nothing runs yet."""
        self._streams = dict(streams or {})
        self._port = port
        folder = None if persist is None else Path(persist)
        self._rules = Rules(quotas=quotas, persist=folder, clock=clock, list_lag=list_lag)
        self._process: subprocess.Popen[str] | None = None
        self._address = None  # until it is started

    @property
    def is_running(self) -> bool:
        """Whether it was started, and neither stopped nor died."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> LocalKinesis:
        """Start it, and return when it answers.

        Raises:
            LocalKinesisError: when Java is missing or the process does not come up within 60 s.
            JarNotFound: when this installation has no jar.
        """
        if self._process is not None:
            raise LocalKinesisError("the local Kinesis is already running")
        with tempfile.TemporaryFile("w+") as log:
            self._process = subprocess.Popen(
                command(self._streams, self._port, self._rules),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,  # Ctrl-C is for this process, which then stops that one
            )
            self._address = ready_endpoint(self._process)
            if self._address is None:
                self.stop()
                log.seek(0)
                raise LocalKinesisError(f"the local Kinesis did not start:\n{log.read()[-2000:]}")
        return self

    def stop(self) -> None:
        """Stop it; without ``persist`` its data is gone. Stopping twice is fine."""
        process, self._process, self._address = self._process, None, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()  # --stop-with-stdin: the end of its input is its end
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def wait(self) -> int:
        """Block until the process ends by itself; its exit code, 0 if it is not running."""
        return 0 if self._process is None else self._process.wait()

    def __enter__(self) -> LocalKinesis:
        """Start it."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop it."""
        self.stop()


def _stream(argument: str) -> tuple[str, int]:
    name, _, shards = argument.partition(":")
    return name, int(shards or "1")


def _duration(argument: str) -> timedelta:
    found = re.fullmatch(r"(\d+)(ms|s|m)", argument)
    if found is None:
        raise argparse.ArgumentTypeError(f"{argument!r} is no duration such as 200ms, 2s or 1m")
    unit = {"ms": "milliseconds", "s": "seconds", "m": "minutes"}[found[2]]
    return timedelta(**{unit: int(found[1])})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m spark_kinesis.local", description="A local Kinesis, until Ctrl-C."
    )
    say = parser.add_argument
    say("--port", type=int, default=0, help="0 takes any free one (default)")
    say("--stream", action="append", type=_stream, default=[], metavar="NAME:SHARDS", help=_STREAM)
    say("--quotas", choices=("aws", "off"), default="off", help="enforce the limits of AWS")
    say("--persist", type=Path, metavar="FOLDER", help="keep everything there; default: in memory")
    say("--clock", choices=("system", "simulated"), default="system", help="what time it goes by")
    say("--list-lag", type=_duration, metavar="2s", help="how late ListShards sees a reshard")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a local Kinesis until Ctrl-C."""
    asked = _parser().parse_args(arguments)
    kinesis = LocalKinesis(
        streams=dict(asked.stream),
        port=asked.port,
        quotas=asked.quotas,
        persist=asked.persist,
        clock=asked.clock,
        list_lag=asked.list_lag,
    )
    with kinesis:
        print(f"{READY}{kinesis.endpoint}", flush=True)
        try:
            return kinesis.wait()
        except KeyboardInterrupt:
            return 0


if __name__ == "__main__":
    sys.exit(main())
