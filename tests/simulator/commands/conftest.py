"""Fixtures: a query that never ran, and a lease table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spark_kinesis.local import LocalKinesis
from spark_kinesis.tools import changes
from tests.dynamodb import TABLE, dynamodb, lease_table, moto_server
from tests.simulator.commands.moving import Moving
from tests.simulator.commands.written import Query


@pytest.fixture
def query(tmp_path: Path) -> Iterator[Query]:
    """A query with a checkpoint written by hand, and a clock that stands still."""
    with LocalKinesis(streams={"orders": 2}, clock="simulated") as kinesis:
        yield Query(kinesis, tmp_path)


@pytest.fixture
def during_watch(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Lets something happen while a command watches for an owner, not before."""

    def arrange(event: Callable[[], object]) -> None:
        def sleep(seconds: float) -> None:
            event()
            time.sleep(seconds)

        clock = SimpleNamespace(monotonic=time.monotonic, sleep=sleep)
        monkeypatch.setattr(changes, "time", clock)

    return arrange


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    """The endpoint of a DynamoDB."""
    with moto_server() as endpoint:
        yield endpoint


@pytest.fixture
def table(moto: str) -> Iterator[Any]:
    """A client of a DynamoDB with an empty lease table."""
    client = dynamodb(moto)
    lease_table(client, TABLE)
    yield client
    client.delete_table(TableName=TABLE)


@pytest.fixture
def moving(
    kinesis: Any, endpoint: str, make_stream: Callable[[int], str], tmp_path: Path
) -> Moving:
    """A stream with ten records, and the new checkpoint of a query."""
    return Moving(kinesis, endpoint, make_stream(1), tmp_path)
