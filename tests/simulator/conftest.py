"""Fixtures: a local Kinesis, and boto3 as its client."""

from __future__ import annotations

import signal
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from spark_kinesis.local import LocalKinesis
from tests.simulator.calls import CALLED, client_of

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """A local Kinesis with one stream."""
    with LocalKinesis(streams={"given": 3}) as kinesis:
        yield kinesis.endpoint


@pytest.fixture(scope="session")
def kinesis(endpoint: str) -> Any:
    """A client of that local Kinesis."""
    return client_of(endpoint)


@pytest.fixture(scope="session")
def unchecked(endpoint: str) -> Any:
    """A client that sends requests without checking them."""
    return client_of(endpoint, checked=False)


@pytest.fixture
def make_stream(kinesis: Any) -> Callable[[int], str]:
    """Creates streams with a number of shards."""

    def make(shards: int) -> str:
        name = f"stream-{uuid.uuid4().hex[:12]}"
        kinesis.create_stream(StreamName=name, ShardCount=shards)
        kinesis.get_waiter("stream_exists").wait(StreamName=name)
        return name

    return make


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """Children do not ignore SIGINT, as a shell's background jobs and their children do."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def _called(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> Iterator[None]:
    """Report the operations that a test called, for the table of conformance.

    The tests in folders are about commands of the package. They are no rules for a server.
    """
    CALLED.clear()
    yield
    if request.path.parent == HERE:
        for operation in sorted(set(CALLED)):
            record_property("called", operation)
