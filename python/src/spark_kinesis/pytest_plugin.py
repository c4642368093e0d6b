"""The pytest fixture ``kinesis``, there as soon as spark-kinesis is installed.

::

    def test_orders(kinesis: LocalKinesis) -> None:
        kinesis.create("orders", 2)
        kinesis.put("orders", ["one", "two"])
        assert len(kinesis.records("orders")) == 2

One local Kinesis serves all tests of a session (of a worker, under pytest-xdist). Each test finds
it without streams and without faults, its statistics at zero; what the test leaves behind is
deleted after it, in us-east-1. Only time is not turned back: a simulated clock stays where a test
has moved it. It starts with the first test that asks for it, which takes a second or two.

How it is started is the fixture ``kinesis_options``, keyword arguments of ``LocalKinesis``; put
your own into ``conftest.py``. Its ``streams`` are made anew for each test::

    @pytest.fixture(scope="session")
    def kinesis_options():
        return {"quotas": "aws", "streams": {"orders": 2}}

A fixture of yours that is called ``kinesis`` takes the place of this one. To have none at all:
``-p no:spark_kinesis``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .local import LocalKinesis


@pytest.fixture(scope="session")
def kinesis_options() -> dict[str, Any]:
    """Keyword arguments of the ``LocalKinesis`` behind ``kinesis``: override this fixture."""
    return {}


@pytest.fixture(scope="session")
def kinesis_server(kinesis_options: dict[str, Any]) -> Iterator[LocalKinesis]:
    """The local Kinesis behind ``kinesis``, for fixtures of your own that outlive a test."""
    from .local import LocalKinesis  # noqa: PLC0415 only for those who use it

    with LocalKinesis(**{**kinesis_options, "streams": None}) as server:
        yield server


@pytest.fixture
def kinesis(
    kinesis_server: LocalKinesis, kinesis_options: dict[str, Any]
) -> Iterator[LocalKinesis]:
    """A local Kinesis as good as new: see :mod:`spark_kinesis.pytest_plugin`."""
    if not kinesis_server.is_running:  # a test may stop it, or be about its death
        kinesis_server.stop()
        kinesis_server.start()
    _clear(kinesis_server)
    for name, shards in kinesis_options.get("streams", {}).items():
        kinesis_server.create(name, shards)
    kinesis_server.reset_stats()
    yield kinesis_server
    if kinesis_server.is_running:
        _clear(kinesis_server)


def _clear(server: LocalKinesis) -> None:
    server.clear_faults()
    for name in server.streams:
        server.delete(name)
