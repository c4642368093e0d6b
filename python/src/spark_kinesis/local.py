"""A Kinesis on this machine, for demos and for your own tests: no Docker, no AWS account.

From Python::

    with LocalKinesis(streams={"orders": 2}) as kinesis:
        source = KinesisSource(stream_name="orders", **kinesis.access)

From a shell, until Ctrl-C::

    python -m spark_kinesis.local --stream orders:2 --port 4567

In a pytest test, the fixture ``kinesis``: see :mod:`spark_kinesis.pytest_plugin`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Literal, final

from ._address import Access, LocalAddress
from ._command import main
from ._endpoint import LocalEndpoint
from ._errors import LocalKinesisError
from ._faults import Fault, FaultName
from ._process import ServerProcess
from ._records import NewRecord, Record
from ._shards import Shard
from ._simulator import Rules, command
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


@final
class LocalKinesis(LocalEndpoint):
    """A local Kinesis in a process of its own, on the loopback interface only.

    It ends with this Python process at the latest. Should it die before, every method raises
    ``LocalKinesisError`` with its last words.

    Args:
        streams: name to number of shards, made at the start.
        port: 0 takes any free one.
        quotas: ``"aws"`` enforces the throughput and rate limits of AWS; default ``"off"``.
        persist: a folder to keep everything in, made if absent; default: in memory only.
        clock: ``"simulated"`` stands still until ``advance()``, to test retention and expiry in
            no time; default ``"system"``. Not together with quotas, which are counted by it.
        list_lag: how long ``ListShards`` still shows the shards of before a reshard, as it may
            on AWS; default: not at all.
        change_time: how long streams and consumers are being made, changed or deleted;
            default: no time.
        consumer_limit: registered consumers a stream may have: 20 or, as with AWS' on-demand
            advantage, 50.
        heap: memory for it, such as ``"512m"``; 1 GB of records of 1 KB takes 1.2 GB.

    Raises:
        ValueError: for a heap that is no size, and for quotas with a simulated clock.
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
        change_time: timedelta | None = None,
        consumer_limit: Literal[20, 50] = 20,
        heap: str = "1g",
    ) -> None:
        """Remember what to start; nothing runs yet."""
        LocalAddress.__init__(self, None)  # until it is started
        self._streams = dict(streams or {})
        self._port = port
        self._rules = Rules(
            quotas=quotas,
            persist=None if persist is None else Path(persist),
            clock=clock,
            list_lag=list_lag,
            change_time=change_time,
            consumer_limit=consumer_limit,
            heap=heap,
        )
        self._process: ServerProcess | None = None

    @property
    def is_running(self) -> bool:
        """Whether it was started, and neither stopped nor died."""
        return self._process is not None and self._process.status is None

    @property
    def endpoint(self) -> str:
        """Such as ``http://127.0.0.1:40123``.

        Raises:
            LocalKinesisError: when it is not running; with its last words when it has died.
        """
        if self._process is not None and self._process.status is not None:
            raise LocalKinesisError(
                f"the local Kinesis has died with status {self._process.status}:\n"
                f"{self._process.last_words()}"
            )
        return super().endpoint

    def start(self) -> LocalKinesis:
        """Start it, and return when it answers.

        Raises:
            LocalKinesisError: when Java is missing or the process does not come up within 60 s.
            JarNotFoundError: when this installation has no jar.
        """
        if self.is_running:
            raise LocalKinesisError("the local Kinesis is already running")
        self.stop()  # what is left of one that died
        words = command(self._streams, self._port, self._rules)
        self._process = ServerProcess(words, is_heard=False)
        endpoint = self._process.endpoint()
        if endpoint is None:
            said = self._process.last_words()
            self.stop()
            raise LocalKinesisError(f"the local Kinesis did not start:\n{said}")
        self._move(endpoint)
        return self

    def stop(self) -> None:
        """Stop it; without ``persist`` its data is gone. Stopping twice is fine."""
        self._move(None)
        process, self._process = self._process, None
        if process is not None:
            process.stop()

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


if __name__ == "__main__":
    sys.exit(main())
