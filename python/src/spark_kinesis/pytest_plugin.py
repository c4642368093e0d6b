"""The pytest fixture ``local_kinesis``, available as soon as spark-kinesis is installed.

::

    def test_orders(local_kinesis: LocalKinesis) -> None:
        local_kinesis.create("orders", 2)
        local_kinesis.put("orders", ["one", "two"])
        assert len(local_kinesis.records("orders")) == 2

One local Kinesis serves all tests of a session (of a worker, under pytest-xdist). It starts with
the first test that uses the fixture, which takes a second or two. Each test finds it without
streams, without faults, and with its statistics at zero; the streams and faults of a test are
removed after it, in us-east-1. A simulated clock keeps the time to which a test has moved it.

The fixture ``local_kinesis_options`` returns the keyword arguments of ``LocalKinesis``. Override it
in your ``conftest.py``. Its ``streams`` are created again for each test::

    @pytest.fixture(scope="session")
    def local_kinesis_options():
        return {"quotas": "aws", "streams": {"orders": 2}}

To disable the fixtures, run pytest with ``-p no:spark_kinesis``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .local import LocalKinesis


@pytest.fixture(scope="session")
def local_kinesis_options() -> dict[str, Any]:
    """Keyword arguments of ``LocalKinesis``. Override this fixture."""
    return {}


@pytest.fixture(scope="session")
def local_kinesis_server(local_kinesis_options: dict[str, Any]) -> Iterator[LocalKinesis]:
    """The local Kinesis behind ``local_kinesis``, for your own fixtures of a wider scope."""
    from .local import LocalKinesis  # noqa: PLC0415 only loaded if a test uses the fixture

    with LocalKinesis(**{**local_kinesis_options, "streams": None}) as server:
        yield server


@pytest.fixture
def local_kinesis(
    local_kinesis_server: LocalKinesis, local_kinesis_options: dict[str, Any]
) -> Iterator[LocalKinesis]:
    """A local Kinesis as if it had just started. See ``spark_kinesis.pytest_plugin``."""
    if not local_kinesis_server.is_running:  # a test may have stopped it
        local_kinesis_server.stop()
        local_kinesis_server.start()
    _clear(local_kinesis_server)
    for name, shards in local_kinesis_options.get("streams", {}).items():
        local_kinesis_server.create(name, shards)
    local_kinesis_server.reset_stats()
    yield local_kinesis_server
    if local_kinesis_server.is_running:
        _clear(local_kinesis_server)


def _clear(server: LocalKinesis) -> None:
    server.clear_faults()
    for name in server.streams:
        server.delete(name)
