"""A local Kinesis in a process of its own: its command, its start and its end.

The server is the Java program in the simulator's jar. It runs on the Scala jar of the installed
Spark, and checks its arguments itself.
"""

from __future__ import annotations

import os
import queue
import shutil
import subprocess
import threading
from collections import deque
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, Literal, final

from spark_kinesis._errors import LocalKinesisError
from spark_kinesis._extras import SPARK
from spark_kinesis._session.jars import jar_path, simulator_jar_path, spark_homes

from ._endpoint import LocalEndpoint

Quotas = Literal["aws", "off", "window", "counting-window", "rolling", "smooth", "shared", "steps"]
Clock = Literal["system", "simulated"]

READY = "listening on "
_MAIN = "sparkkinesis.simulator.Main"
_JAVA_OPTIONS = (
    "-Djava.net.preferIPv4Stack=true",
    "-Dslf4j.internal.verbosity=ERROR",  # no warning that there is no logging library
)
_START_SECONDS = 60.0
_STOP_SECONDS = 10.0
_LAST_LINES = 60


@final
class LocalKinesis(LocalEndpoint):
    """A local Kinesis in a process of its own, on the loopback interface only.

    The process ends with this Python process at the latest. If it ends before, every method raises
    ``LocalKinesisError`` with the end of its output. The server checks the arguments, so ``start``
    raises this error for a wrong one.

    Args:
        streams: number of shards by name of the streams to create at the start; default: none.
        port: port on which it listens; default: 0, any free port.
        quotas: ``"aws"`` enforces the throughput and call limits of AWS; default ``"off"``.
            ``"window"``, ``"counting-window"``, ``"rolling"``, ``"smooth"``, ``"shared"`` and
            ``"steps"`` do the same, but count writes to a shard in another way. Quotas refill with
            time, so they need the clock ``"system"``.
        persist: folder that stores all data, created if absent; default: in memory only.
        clock: ``"simulated"`` stands still until ``advance()`` moves it, to test retention and
            expiry without waiting; default ``"system"``.
        list_lag: how long ``ListShards`` still returns the shards before a reshard, as it may on
            AWS; default: 0.
        change_time: how long it takes to create, change or delete a stream or a consumer;
            default: 0.
        consumer_limit: maximum number of registered consumers per stream: 20 or, as with the
            on-demand advantage mode of AWS, 50; default 20.
        heap: maximum memory of the process, such as ``"512m"``; default ``"1g"``. 1 GB of records
            of 1 KB takes 1.2 GB.
        behaviour: what AWS does and a simple local server does not, such as
            ``{"visibility_delay": timedelta(seconds=1), "empty_pages": 0.5}``; default: nothing of
            it. ``localstack/README.md`` in the repository lists the names.
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
        consumer_limit: Literal[20, 50] = 20,
        heap: str = "1g",
        behaviour: Mapping[str, timedelta | float | str] | None = None,
    ) -> None:
        """Nothing runs yet."""
        self._address = self._client = None
        self._streams, self._port, self._heap = dict(streams or {}), port, heap
        self._settings = {
            "quotas": quotas,
            "persist": persist,
            "clock": clock,
            "list_lag": list_lag,
            "change_time": change_time,
            "consumer_limit": consumer_limit,
            **(behaviour or {}),
        }
        self._process: subprocess.Popen[str] | None = None
        self._output: deque[str] = deque(maxlen=_LAST_LINES)

    @property
    def is_running(self) -> bool:
        """Whether the process runs: it was started, and has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def endpoint(self) -> str:
        """The URL, such as ``http://127.0.0.1:40123``.

        Raises:
            LocalKinesisError: if the process does not run. If it ended by itself, the message has
                the end of its output.
        """
        if self._process is not None and not self.is_running:
            status = self._process.returncode
            raise LocalKinesisError(f"the local Kinesis has died with status {status}:{self._said}")
        return super().endpoint

    def start(self) -> LocalKinesis:
        """Start the process, and return when it answers.

        Raises:
            LocalKinesisError: if it runs already, Java is missing, an argument is wrong, or it does
                not answer in 60 s.
            JarNotFoundError: if this installation has no jar.
        """
        if self.is_running:
            raise LocalKinesisError("the local Kinesis is already running")
        self.stop()  # the rest of one that ended by itself
        words = command(self._streams, self._port, self._settings, heap=self._heap)
        self._output.clear()
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C reaches this process only, which then stops that one
        )
        try:
            self._address = ready_endpoint(self._process, self._output)
        finally:  # also after Ctrl-C while it starts
            if self._address is None:
                self.stop()
        if self._address is None:
            raise LocalKinesisError(f"the local Kinesis did not start:{self._said}")
        return self

    def stop(self) -> None:
        """Stop the process. Without ``persist``, its data is lost. It may be stopped already."""
        if self._client is not None:
            self._client.close()
        self._address = self._client = None
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()  # this makes it end
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def wait(self) -> int:
        """Wait until the process ends by itself. Returns its exit code, 0 if it does not run."""
        return 0 if self._process is None else self._process.wait()

    @property
    def _said(self) -> str:
        return "\n".join(["", *self._output])

    def __enter__(self) -> LocalKinesis:
        """Start the process."""
        return self.start()

    def __exit__(self, *_: object) -> None:
        """Stop the process."""
        self.stop()


def command(
    streams: Mapping[str, int],
    port: int,
    settings: Mapping[str, Any] | None = None,
    *,
    heap: str = "1g",
) -> list[str]:
    """The command and its arguments. The program ends when its standard input ends.

    Raises:
        LocalKinesisError: if Java or the jars of Spark are missing.
        JarNotFoundError: if this installation has no jar.
    """
    jars = os.pathsep.join([jar_path("2.13"), simulator_jar_path(), *_spark_jars()])
    words = [_java(), f"-Xmx{heap}", *_JAVA_OPTIONS, "-cp", jars, _MAIN, "--port", str(port)]
    for name, value in (settings or {}).items():
        if value is not None:
            is_time = isinstance(value, timedelta)
            text = f"{value // timedelta(milliseconds=1)}ms" if is_time else str(value)
            words += ["--" + name.replace("_", "-"), text]
    for name, shards in streams.items():
        words += ["--stream", f"{name}:{shards}"]
    return [*words, "--stop-with-stdin"]


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    found = found or shutil.which("java")
    if found is None:
        raise LocalKinesisError("the local Kinesis needs Java 17 or newer: set JAVA_HOME")
    return found


def _spark_jars() -> list[str]:
    """The jars of Scala and of the logging interface, both of the same Spark."""
    for home in spark_homes():
        scala = sorted((home / "jars").glob("scala-library-2.13.*.jar"))
        logging = sorted((home / "jars").glob("slf4j-api-2.*.jar"))
        if scala and logging:
            return [str(scala[-1]), str(logging[-1])]
    raise LocalKinesisError(
        "the local Kinesis uses Scala 2.13 and slf4j 2 of a Spark 4, and none is installed: "
        f"pip install {SPARK}, or set SPARK_HOME to a Spark 4"
    )


def ready_endpoint(process: subprocess.Popen[str], others: deque[str]) -> str | None:
    """The address in the output of a process; ``None`` if it does not appear within 60 s.

    A thread reads the output to its end, so that the process never blocks on a full pipe. Other
    lines than the address go into ``others``.
    """
    addresses: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def listen(output: IO[str]) -> None:
        with output:
            for line in map(str.rstrip, output):
                if line.startswith(READY):
                    addresses.put(line.removeprefix(READY))
                else:
                    others.append(line)
        addresses.put(None)

    threading.Thread(target=listen, args=(process.stdout,), daemon=True).start()
    try:
        return addresses.get(timeout=_START_SECONDS)
    except queue.Empty:
        return None
