"""Fixtures: services on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from hypothesis import settings
from moto import mock_aws
from moto.server import ThreadedMotoServer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for log_processing

import aws

from log_processing.demo.resources import create_table
from spark_kinesis.local import LocalKinesis

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
    """The endpoint of DynamoDB, EventBridge and Kinesis of moto."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture
def moto(moto_server: str) -> str:
    """The same, with nothing but an empty table and a bus."""
    aws.reset(moto_server)
    aws.create_table(moto_server)
    aws.create_bus(moto_server)
    return moto_server


@pytest.fixture
def dynamodb() -> Iterator[Any]:
    """A client of a DynamoDB in this process, with nothing but an empty table."""
    with mock_aws():
        client = boto3.client("dynamodb", region_name="eu-west-1")
        create_table(client, aws.TABLE)
        yield client
