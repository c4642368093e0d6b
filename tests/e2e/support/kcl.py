"""Real applications of the Kinesis Client Library, and DynamoDB Local: programs that sbt stages."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
READY = "listening on "
START_SECONDS = 120.0
RUN_SECONDS = 400.0


def is_staged(name: str) -> bool:
    """Whether sbt has made the folder of a program."""
    return (ROOT / "target" / name).is_dir()


def java(name: str, main: str, *options: str) -> list[str]:
    """The words that start a program."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin") if home else None) or "java"
    jars = ROOT / "target" / name
    native = f"-Dsqlite4java.library.path={jars}"
    return [found, "-Xmx512m", native, *options, "-cp", f"{jars}/*", main]


@contextmanager
def dynamodb_local() -> Iterator[str]:
    """The endpoint of a DynamoDB Local, which ends with its standard input."""
    words = java("dynamodb-local", "logprocessing.DynamoDbLocal")
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        watchdog = threading.Timer(START_SECONDS, process.kill)
        watchdog.start()
        try:
            assert process.stdout is not None
            ready = next((line for line in process.stdout if line.startswith(READY)), None)
            watchdog.cancel()
            assert ready, "DynamoDB Local did not start; its words are on standard error"
            yield ready.removeprefix(READY).strip()
        finally:
            watchdog.cancel()
            process.kill()


@dataclass(frozen=True)
class Processed:
    """A user record that an application has processed."""

    shard: str
    number: int
    sub: int
    key: str


@dataclass(frozen=True, kw_only=True)
class Application:
    """An application with one worker.

    Attributes:
        version: 1, 2 or 3.
        kinesis: endpoint of Kinesis.
        dynamodb: endpoint of DynamoDB.
        name: its name, and that of its lease table.
        streams: name of its stream, or the keys of several.
    """

    version: int
    kinesis: str
    dynamodb: str
    name: str
    streams: str

    def run(
        self, log: Path, *, per_shard: int, shards: int, position: str = "TRIM_HORIZON"
    ) -> list[Processed]:
        """Process so many user records of each shard, until this has happened in so many shards.

        A shard that is read to its end counts, too. With 0, it ends when it has begun in so many
        shards.
        """
        words = java(f"kcl-{self.version}", "sparkkinesis.kcl.KclApplication")
        given = [self.kinesis, self.dynamodb, self.name, self.streams, position]
        with log.open("wb") as errors:
            ended = subprocess.run(
                [*words, *given, str(per_shard), str(shards)],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                timeout=RUN_SECONDS,
                check=False,
            )
        assert ended.returncode == 0, ended.stdout[-2000:] + log.read_text()[-6000:]
        lines = [line.split() for line in ended.stdout.splitlines() if line.startswith("shardId-")]
        return [
            Processed(shard, int(number), int(sub), key)
            for shard, number, sub, key in (words for words in lines if words[1] != "ended")
        ]
