"""Fixtures: services on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from moto.server import ThreadedMotoServer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for log_processing and trial

from spark_kinesis.local import LocalKinesis
from trial.services import create_bus, create_table, reset

if TYPE_CHECKING:
    from collections.abc import Iterator

# No test asserts wall-clock time: a busy machine is no failure.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture(scope="session", autouse=True)
def _scala_of_the_local_kinesis() -> Iterator[None]:
    """On Spark 3.5, the local Kinesis takes Scala 2.13 from another Spark: `tests/sparks.py`."""
    home, start = os.environ.get("SIMULATOR_SPARK_HOME"), LocalKinesis.start

    def start_with_spark_4(kinesis: LocalKinesis) -> LocalKinesis:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SPARK_HOME", str(home))
            patch.delenv("SPARK_KINESIS_JAR")
            return start(kinesis)

    with pytest.MonkeyPatch.context() as patch:
        if home is not None:
            patch.setattr(LocalKinesis, "start", start_with_spark_4)
        yield


@pytest.fixture(scope="session")
def moto_server() -> Iterator[str]:
    """The endpoint of moto's services."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture
def moto(moto_server: str) -> str:
    """The same, with nothing but an empty table and a bus."""
    reset(moto_server)
    create_table(moto_server)
    create_bus(moto_server)
    return moto_server
