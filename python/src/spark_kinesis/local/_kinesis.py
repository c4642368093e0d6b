"""A local Kinesis in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import final

from spark_kinesis._errors import LocalKinesisError

from ._calls import Clients
from ._endpoint import LocalEndpoint
from ._server import (
    Behaviour,
    Clock,
    ConsumerLimit,
    Quotas,
    ServerProcess,
    ServerSettings,
    command,
)


@final
class LocalKinesis(LocalEndpoint):
    """A local Kinesis in a process of its own, on the loopback interface only.

    The process ends with this Python process at the latest. If it ends before, every method raises
    ``LocalKinesisError`` with the end of its error output.

    Args:
        streams: number of shards by name of the streams to create at the start; default: none.
        port: port on which it listens; default: 0, any free port.
        quotas: ``"aws"`` enforces the throughput and call limits of AWS; default ``"off"``.
            ``"window"``, ``"counting-window"``, ``"rolling"``, ``"smooth"``, ``"shared"`` and
            ``"steps"`` do the same, but count writes to a shard in another way.
        persist: folder that stores all data, created if absent; default: in memory only.
        clock: ``"simulated"`` stands still until ``advance()`` moves it, to test retention and
            expiry without waiting; default ``"system"``. Not together with quotas, which refill
            with time.
        list_lag: how long ``ListShards`` still returns the shards before a reshard, as it may on
            AWS; default: 0.
        change_time: how long it takes to create, change or delete a stream or a consumer;
            default: 0.
        consumer_limit: maximum number of registered consumers per stream: 20 or, as with the
            on-demand advantage mode of AWS, 50; default 20.
        heap: maximum memory of the process, such as ``"512m"``; default ``"1g"``. 1 GB of records
            of 1 KB takes 1.2 GB.
        behaviour: what AWS does and a simple local server does not, such as records that readers
            see late; default: nothing of it.

    Raises:
        TypeError: for an argument of a wrong type.
        ValueError: for another word, heap or limit, a duration that is negative or not a whole
            number of milliseconds, and for quotas with a simulated clock.
    """

    def __init__(
        self,
        *,
        streams: Mapping[str, int] | None = None,
        port: int = 0,
        quotas: Quotas = "off",
        persist: Path | str | None = None,
        clock: Clock = "system",
        list_lag: timedelta | None = None,
        change_time: timedelta | None = None,
        consumer_limit: ConsumerLimit = 20,
        heap: str = "1g",
        behaviour: Behaviour | None = None,
    ) -> None:
        """Check the arguments. Nothing runs yet."""
        self._address, self._clients = None, Clients()
        self._streams = dict(streams or {})
        self._port = port
        self._settings = ServerSettings(
            quotas=quotas,
            persist=None if persist is None else Path(persist),
            clock=clock,
            list_lag=list_lag,
            change_time=change_time,
            consumer_limit=consumer_limit,
            heap=heap,
            behaviour=Behaviour() if behaviour is None else behaviour,
        )
        self._process: ServerProcess | None = None

    @property
    def is_running(self) -> bool:
        """Whether the process runs: it was started, and has not ended."""
        return self._process is not None and self._process.status is None

    @property
    def endpoint(self) -> str:
        """The URL, such as ``http://127.0.0.1:40123``.

        Raises:
            LocalKinesisError: if the process does not run. If it ended by itself, the message has
                the end of its error output.
        """
        if self._process is not None and self._process.status is not None:
            raise LocalKinesisError(
                f"the local Kinesis has died with status {self._process.status}:\n"
                f"{self._process.last_words()}"
            )
        return super().endpoint

    def start(self) -> LocalKinesis:
        """Start the process, and return when it answers.

        Raises:
            LocalKinesisError: if it runs already, Java is missing, or it does not answer in 60 s.
            JarNotFoundError: if this installation has no jar.
        """
        if self.is_running:
            raise LocalKinesisError("the local Kinesis is already running")
        self.stop()  # the rest of one that ended by itself
        words = command(self._streams, self._port, self._settings)
        self._process = ServerProcess(words, shares_stderr=False)
        try:
            endpoint = self._process.endpoint()
        except BaseException:  # Ctrl-C while it starts
            self.stop()
            raise
        if endpoint is None:
            output = self._process.last_words()
            self.stop()
            raise LocalKinesisError(f"the local Kinesis did not start:\n{output}")
        self._move(endpoint)
        return self

    def stop(self) -> None:
        """Stop the process. Without ``persist``, its data is lost. It may be stopped already.

        In a forked Python process, it only lets go of the process, which goes on for the parent.
        """
        self._move(None)
        process, self._process = self._process, None
        if process is not None:
            process.stop()

    def wait(self) -> int:
        """Wait until the process ends by itself. Returns its exit code, 0 if it does not run."""
        return 0 if self._process is None else self._process.wait()

    def __enter__(self) -> LocalKinesis:
        """Start the process."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop the process."""
        self.stop()
