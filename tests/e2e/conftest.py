"""Fixtures: local Kinesis servers, streams, and a session with the installed wheel."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import SparkSession

import spark_kinesis
from spark_kinesis import with_kinesis
from tests.e2e.support.streams import Stream, local_kinesis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
READY = "listening on "
START_SECONDS = 300.0  # the first start installs it

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
# The programs in apps/ and Spark's Python workers import tests.e2e.support too.
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])


@pytest.fixture(scope="session")
def simulator() -> Iterator[str]:
    """The endpoint of the local Kinesis in the wheel."""
    with local_kinesis() as kinesis:
        yield kinesis.endpoint


@pytest.fixture(scope="session")
def kinesis_local() -> Iterator[str]:
    """The endpoint of `kinesis-local`, an independent emulator."""
    command = [str(ROOT / "localstack" / "kinesis-mock" / "run"), "--stop-with-stdin"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        watchdog = threading.Timer(START_SECONDS, process.kill)
        watchdog.start()
        try:
            assert process.stdout is not None
            ready = next((line for line in process.stdout if line.startswith(READY)), None)
            watchdog.cancel()
            assert ready, "kinesis-local did not start; its words are on standard error"
            yield ready.removeprefix(READY).strip()
        finally:
            watchdog.cancel()
            process.kill()  # its own shutdown takes half a minute


@pytest.fixture(
    scope="session", params=["simulator", pytest.param("kinesis_local", marks=pytest.mark.slow)]
)
def kinesis(request: pytest.FixtureRequest) -> str:
    """The endpoint of each local Kinesis server in turn."""
    endpoint: str = request.getfixturevalue(request.param)
    return endpoint


@pytest.fixture
def new_stream(kinesis: str) -> Iterator[Callable[..., Stream]]:
    """Creates streams. They are deleted after the test."""
    made: list[Stream] = []

    def make(shards: int = 2) -> Stream:
        made.append(Stream(kinesis, shards))
        return made[-1]

    yield make
    for stream in made:
        stream.client.delete_stream(StreamName=stream.name, EnforceConsumerDeletion=True)


@pytest.fixture
def stream(new_stream: Callable[..., Stream]) -> Stream:
    """A new stream with two shards."""
    return new_stream()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One classic session for all tests, with the connector of the installed wheel."""
    assert "site-packages" in spark_kinesis.__file__, "these tests are about the installed wheel"
    builder = (
        SparkSession.Builder()
        .master("local[2]")
        .appName("spark-kinesis-e2e")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
    )
    session = with_kinesis(builder).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """The checkpoint folder of a test's query."""
    return tmp_path / "checkpoint"


@pytest.fixture
def source_names(spark: SparkSession) -> Iterator[None]:
    """A session in which sources have names, if its Spark knows them."""
    settings = {
        "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
        "spark.sql.streaming.offsetLog.formatVersion": "2",
    }
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield
    for name in settings:
        spark.conf.unset(name)
