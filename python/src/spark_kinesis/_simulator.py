"""The process of the local Kinesis: how it is started, and how one hears that it is up."""

from __future__ import annotations

import os
import queue
import re
import shutil
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO, Literal

from ._errors import LocalKinesisError
from ._jar import jar_path, simulator_jar_path
from ._spark import spark_homes
from ._values import duration

READY = "listening on "
_MAIN = "sparkkinesis.simulator.Main"
_START_SECONDS = 60.0
_CONSUMERS = 20
_MORE_CONSUMERS = 50
_HEAP = re.compile(r"[1-9]\d{0,5}[mg]", re.IGNORECASE)
_JAVA_OPTIONS = (
    "-Djava.net.preferIPv4Stack=true",
    "-Dslf4j.internal.verbosity=ERROR",  # that nothing is logged is no news
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """How the local Kinesis behaves; what is left alone is the server's default.

    Attributes:
        quotas: ``aws`` enforces the throughput and rate limits of AWS.
        persist: the folder that outlives the process.
        clock: ``simulated`` stands still until it is moved.
        list_lag: how long ``ListShards`` shows the shards of before a reshard.
        change_time: how long streams and consumers are being made, changed or deleted.
        consumer_limit: registered consumers of a stream: 20 or 50.
        heap: memory of the process, in ``m`` or ``g``.
    """

    quotas: Literal["aws", "off"] = "off"
    persist: Path | None = None
    clock: Literal["system", "simulated"] = "system"
    list_lag: timedelta | None = None
    change_time: timedelta | None = None
    consumer_limit: Literal[20, 50] = 20
    heap: str = "1g"

    def __post_init__(self) -> None:
        """Check what the server cannot.

        Raises:
            ValueError: for a heap that is no size, and for limits that time never lifts.
        """
        if _HEAP.fullmatch(self.heap) is None:
            raise ValueError(f"heap must be a size such as 512m or 4g, not {self.heap!r}")
        if self.quotas == "aws" and self.clock == "simulated":
            raise ValueError(
                "quotas='aws' counts by the clock, and clock='simulated' stands still: what is "
                "refused once would be refused for good. Choose one of the two"
            )

    def words(self) -> list[str]:
        """The same as options of the program, but for the heap, which is Java's."""
        said = {
            "--quotas": None if self.quotas == "off" else self.quotas,
            "--persist": None if self.persist is None else str(self.persist.absolute()),
            "--clock": None if self.clock == "system" else self.clock,
            "--list-lag": duration("list_lag", self.list_lag),
            "--change-time": duration("change_time", self.change_time),
            "--consumer-limit": None if self.consumer_limit == _CONSUMERS else str(_MORE_CONSUMERS),
        }
        return [word for name, value in said.items() if value is not None for word in (name, value)]


def command(streams: Mapping[str, int], port: int, rules: Rules | None = None) -> list[str]:
    """What to run. It ends when its standard input does.

    Raises:
        LocalKinesisError: when Java or Spark's jars are missing.
        JarNotFoundError: when this installation has no jar.
    """
    class_path = os.pathsep.join([jar_path(), simulator_jar_path(), *spark_jars()])
    rules = rules or Rules()
    words = [java(), f"-Xmx{rules.heap}", *_JAVA_OPTIONS, "-cp", class_path, _MAIN]
    words += ["--port", str(port), "--stop-with-stdin"]
    words += rules.words()
    for name, shards in streams.items():
        words += ["--stream", f"{name}:{shards}"]
    return words


def ready_endpoint(process: subprocess.Popen[str]) -> str | None:
    """The address from the process' first words, or ``None`` if they do not come in time."""
    said: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(process.stdout, said), daemon=True).start()
    try:
        return said.get(timeout=_START_SECONDS)
    except queue.Empty:
        return None


def _listen(output: IO[str] | None, said: queue.SimpleQueue[str | None]) -> None:
    """Pass on the address; read on, so that the process never blocks on a full pipe."""
    if output is not None:
        with output:
            for line in output:
                if line.startswith(READY):
                    said.put(line.removeprefix(READY).strip())
    said.put(None)


def java() -> str:
    """The program, of ``JAVA_HOME`` or else of the ``PATH``."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    found = found or shutil.which("java")
    if found is None:
        raise LocalKinesisError("the local Kinesis needs Java 17 or newer: set JAVA_HOME")
    return found


def spark_jars() -> list[str]:
    """Scala and the logging interface, which the connector takes from one and the same Spark."""
    for home in spark_homes():
        scala = sorted((home / "jars").glob("scala-library-2.13.*.jar"))
        logging = sorted((home / "jars").glob("slf4j-api-2.*.jar"))
        if scala and logging:
            return [str(scala[-1]), str(logging[-1])]
    raise LocalKinesisError(
        "the local Kinesis takes Scala 2.13 and slf4j 2 from Spark 4, and there is none: "
        "pip install 'spark-kinesis[spark]' or set SPARK_HOME"
    )
