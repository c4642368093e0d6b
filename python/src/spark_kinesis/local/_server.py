"""The process of a local Kinesis: its settings, its command, its start and its end.

The server is the Java program in the simulator's jar. It runs on the Scala jar of the installed
Spark. A thread per process reads its output, so that it never blocks on a full pipe.
"""

from __future__ import annotations

import os
import queue
import re
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, Literal, final, get_args

from spark_kinesis._errors import LocalKinesisError
from spark_kinesis._extras import SPARK
from spark_kinesis._options.declared import ABSENT, duration, require, require_word
from spark_kinesis._session.jars import jar_path, simulator_jar_path, spark_homes

Quotas = Literal["aws", "off", "window", "counting-window", "rolling", "smooth", "shared", "steps"]
Clock = Literal["system", "simulated"]
ConsumerLimit = Literal[20, 50]

READY = "listening on "
_MAIN = "sparkkinesis.simulator.Main"
_JAVA_OPTIONS = (
    "-Djava.net.preferIPv4Stack=true",
    "-Dslf4j.internal.verbosity=ERROR",  # no warning that there is no logging library
)
_HEAP = re.compile(r"[1-9]\d{0,5}[mg]", re.IGNORECASE)
_NO_TIME = timedelta(0)
_START_SECONDS = 60.0
_STOP_SECONDS = 10.0
_LAST_WORDS = 2000


@dataclass(frozen=True, kw_only=True, slots=True)
class Behaviour:
    """What AWS does and a simple local server does not. Everything is off by default.

    The options of ``spark-kinesis local`` have the same names, such as ``--visibility-delay``.

    Attributes:
        visibility_delay: readers see a record up to this time after its acknowledgement, in
            sequence order within its shard. Meanwhile a page at the tip says that nothing follows,
            and a closed shard does not end.
        arrival_fall: the arrival time of a record is up to this time before its acknowledgement,
            so arrival times within a shard fall by at most this time.
        empty_pages: share, 0 to 1, of the pages of ``GetRecords`` with records that one to three
            empty pages precede. Each of these advances the iterator, and its
            ``MillisBehindLatest`` is smaller.
        late_shard_ends: share, 0 to 1, of the closed shards that need one more empty page after
            their last records.
        endless_subscriptions: share, 0 to 1, of the closed shards whose subscriptions do not end
            with the shard. They send empty events that say that nothing follows.
        replayed_subscriptions: share, 0 to 1, of the subscriptions that begin at the oldest
            record, whatever position was asked for.
        failed_entries: share, 0 to 1, of the entries of ``PutRecords`` that fail with
            ``InternalFailure``.
        shuffled_puts: share, 0 to 1, of the calls of ``PutRecords`` that write their entries in
            another order.
        reshard_interval: time before each split or merge of ``UpdateShardCount``, and of an
            on-demand stream that scales. Meanwhile the stream is ``UPDATING``, and accepts
            records.
        on_demand_scaling: an on-demand stream doubles its shards when it received more than so
            many records per open shard within a second; 0 means never.
        seed: seed of all chance.
    """

    visibility_delay: timedelta = _NO_TIME
    arrival_fall: timedelta = _NO_TIME
    empty_pages: float = 0.0
    late_shard_ends: float = 0.0
    endless_subscriptions: float = 0.0
    replayed_subscriptions: float = 0.0
    failed_entries: float = 0.0
    shuffled_puts: float = 0.0
    reshard_interval: timedelta = _NO_TIME
    on_demand_scaling: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """Check types and values.

        Raises:
            TypeError: for a field of a wrong type.
            ValueError: for a share outside 0 to 1, a duration that is negative or not a whole
                number of milliseconds, and a negative ``on_demand_scaling``.
        """
        for name, default in DEFAULTS.items():
            value = getattr(self, name)
            if isinstance(default, timedelta):
                require(name, value, timedelta)
                duration(name, value)
            elif isinstance(default, float):
                require(name, value, float, int)
            else:
                require(name, value, int)
            if isinstance(default, float) and not 0 <= value <= 1:
                raise ValueError(f"{name} must be from 0 to 1, not {value!r}")
            if name != "seed" and value < type(default)(0):
                raise ValueError(f"{name} must not be negative, not {value!r}")

    def arguments(self) -> list[str]:
        """The arguments of the server."""
        return _arguments(self)


def option(name: str) -> str:
    """The option of a field on the command line."""
    return "--" + name.replace("_", "-")


DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Behaviour)}


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerSettings:
    """How a local Kinesis behaves. ``LocalKinesis`` describes the fields."""

    quotas: Quotas = "off"
    persist: Path | None = None
    clock: Clock = "system"
    list_lag: timedelta | None = None
    change_time: timedelta | None = None
    consumer_limit: ConsumerLimit = 20
    heap: str = "1g"
    behaviour: Behaviour = field(default_factory=Behaviour)

    def __post_init__(self) -> None:
        """Check types and values, so that a mistake shows before the server starts.

        Raises:
            TypeError: for a field of a wrong type.
            ValueError: for a value that the server would refuse, or that could not work.
        """
        for name, words in (("quotas", Quotas), ("clock", Clock)):
            require(name, getattr(self, name), str)
            require_word(name, getattr(self, name), words)
        for name in ("list_lag", "change_time"):
            value = getattr(self, name)
            require(name, value, timedelta, ABSENT)
            if value is not None and value < _NO_TIME:
                raise ValueError(f"{name} must not be negative, not {value!r}")
            duration(name, value)
        require("consumer_limit", self.consumer_limit, int)
        if self.consumer_limit not in get_args(ConsumerLimit):
            raise ValueError(f"consumer_limit must be 20 or 50, not {self.consumer_limit}")
        require("behaviour", self.behaviour, Behaviour)
        require("heap", self.heap, str)
        if _HEAP.fullmatch(self.heap) is None:
            raise ValueError(f"heap must be a size such as 512m or 4g, not {self.heap!r}")
        if self.quotas != "off" and self.clock == "simulated":
            raise ValueError(
                f"quotas={self.quotas!r} and clock='simulated' exclude each other: quotas refill "
                "with time, and a simulated clock stands still. Choose one of the two"
            )

    def arguments(self) -> list[str]:
        """The arguments of the server. The heap is an argument of Java."""
        return _arguments(self) + self.behaviour.arguments()


def _arguments(settings: Behaviour | ServerSettings) -> list[str]:
    """The fields that differ from their defaults."""
    words: list[str] = []
    for it in fields(settings):
        value = getattr(settings, it.name)
        if it.name in ("heap", "behaviour") or value == it.default:
            continue
        if isinstance(value, timedelta):
            value = duration(it.name, value)
        elif isinstance(value, Path):
            value = value.absolute()
        words += [option(it.name), str(value)]
    return words


def command(
    streams: Mapping[str, int], port: int, settings: ServerSettings | None = None
) -> list[str]:
    """The command and its arguments. The program ends when its standard input ends.

    Raises:
        LocalKinesisError: if Java or the jars of Spark are missing.
        JarNotFoundError: if this installation has no jar.
    """
    settings = settings or ServerSettings()
    jars = [jar_path("2.13"), simulator_jar_path(), *spark_jars()]
    words = [java(), f"-Xmx{settings.heap}", *_JAVA_OPTIONS, "-cp", os.pathsep.join(jars), _MAIN]
    words += ["--port", str(port), "--stop-with-stdin", *settings.arguments()]
    for name, shards in streams.items():
        words += ["--stream", f"{name}:{shards}"]
    return words


def java() -> str:
    """The path of ``java``, in ``JAVA_HOME`` or else on the ``PATH``.

    Raises:
        LocalKinesisError: if there is none.
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    found = found or shutil.which("java")
    if found is None:
        raise LocalKinesisError("the local Kinesis needs Java 17 or newer: set JAVA_HOME")
    return found


def spark_jars() -> list[str]:
    """The jars of Scala and of the logging interface, both of the same Spark.

    Raises:
        LocalKinesisError: if no Spark has them.
    """
    for home in spark_homes():
        scala = sorted((home / "jars").glob("scala-library-2.13.*.jar"))
        logging = sorted((home / "jars").glob("slf4j-api-2.*.jar"))
        if scala and logging:
            return [str(scala[-1]), str(logging[-1])]
    raise LocalKinesisError(
        "the local Kinesis uses Scala 2.13 and slf4j 2 of a Spark 4, and none is installed: "
        f"pip install {SPARK}, or set SPARK_HOME to a Spark 4"
    )


@final
class ServerProcess:
    """A process that starts at once, and ends with this Python process at the latest.

    A forked copy of this Python process cannot see how it is, end it, or keep it alive.

    Args:
        words: the command and its arguments.
        shares_stderr: whether it writes to the standard error of this process. If not, its error
            output is stored for ``last_words``.
    """

    def __init__(self, words: Sequence[str], *, shares_stderr: bool) -> None:
        """Start the process."""
        self._starter = os.getpid()
        self._log: IO[str] | None = None
        if not shares_stderr:
            self._log = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 until stop()
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            start_new_session=True,  # Ctrl-C reaches this process only, which then stops that one
        )
        if self._process.stdin is not None:
            _inputs.add(self._process.stdin)

    def endpoint(self) -> str | None:
        """Wait for its address. ``None`` if that takes longer than 60 s, or the process ended."""
        return ready_endpoint(self._process)

    @property
    def status(self) -> int | None:
        """The exit code of the process; ``None`` while it runs, and in a forked process."""
        return self._process.poll() if self._is_own else None

    def wait(self) -> int:
        """Wait until it ends. Returns its exit code."""
        return self._process.wait()

    def last_words(self) -> str:
        """The end of its error output, until ``stop()``."""
        if self._log is None:
            return ""
        self._log.seek(0)
        return self._log.read()[-_LAST_WORDS:].strip()

    def stop(self) -> None:
        """End the process, unless it belongs to the parent. It may have ended already."""
        if self._process.stdin is not None:
            self._process.stdin.close()  # with --stop-with-stdin, this makes it end
        if self._is_own:
            try:
                self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._log is not None:
            self._log.close()

    @property
    def _is_own(self) -> bool:
        """Whether this Python process has started it. For a fork, ``poll`` says that it ended."""
        return self._starter == os.getpid()


_inputs: weakref.WeakSet[IO[str]] = weakref.WeakSet()  # of the processes


def _close_inputs() -> None:
    """Close the copies in a forked process. An input ends when no process holds it open."""
    for it in list(_inputs):
        it.close()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_close_inputs)


def ready_endpoint(process: subprocess.Popen[str]) -> str | None:
    """The address in the output of a process; ``None`` if it does not appear within 60 s."""
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(process.stdout, lines), daemon=True).start()
    try:
        return lines.get(timeout=_START_SECONDS)
    except queue.Empty:
        return None


def _listen(output: IO[str] | None, lines: queue.SimpleQueue[str | None]) -> None:
    """Pass on the address, and read the rest, so that the process never blocks on a full pipe."""
    if output is not None:
        with output:
            for line in output:
                if line.startswith(READY):
                    lines.put(line.removeprefix(READY).strip())
    lines.put(None)
