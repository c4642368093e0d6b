"""The pytest fixture ``local_kinesis``, which the package spark-kinesis installs.

::

    def test_orders(local_kinesis: LocalKinesis) -> None:
        local_kinesis.create("orders", 2)
        local_kinesis.put("orders", ["one", "two"])
        assert len(local_kinesis.records("orders")) == 2

All tests of a pytest session share one local Kinesis. With pytest-xdist, all tests of a worker
share one. It starts when the first test uses the fixture, which takes one or two seconds. Before
and after each test, the fixture removes all faults, and all streams in us-east-1. Before each test,
it also sets the statistics to zero. It does not reset the time of a simulated clock.

The fixture ``local_kinesis_options`` returns the keyword arguments of ``LocalKinesis``. To change
them, override the fixture in your ``conftest.py``. If you set ``streams``, ``local_kinesis``
creates these streams before each test::

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
    """Keyword arguments of ``LocalKinesis``. To change them, override this fixture."""
    return {}


@pytest.fixture(scope="session")
def local_kinesis_server(local_kinesis_options: dict[str, Any]) -> Iterator[LocalKinesis]:
    """The local Kinesis that ``local_kinesis`` uses, for your own session-scoped fixtures."""
    from .local import LocalKinesis  # noqa: PLC0415 only loaded if a test uses the fixture

    with LocalKinesis(**{**local_kinesis_options, "streams": None}) as server:
        yield server


@pytest.fixture
def local_kinesis(
    local_kinesis_server: LocalKinesis, local_kinesis_options: dict[str, Any]
) -> Iterator[LocalKinesis]:
    """A local Kinesis without data of other tests. See ``spark_kinesis.pytest_plugin``."""
    if not local_kinesis_server.is_running:  # a test may have stopped it
        local_kinesis_server.stop()
        local_kinesis_server.start()
    _clear(local_kinesis_server)
    for name, shards in (local_kinesis_options.get("streams") or {}).items():
        local_kinesis_server.create(name, shards)
    local_kinesis_server.reset_stats()
    yield local_kinesis_server
    if local_kinesis_server.is_running:
        _clear(local_kinesis_server)


def _clear(server: LocalKinesis) -> None:
    server.clear_faults()
    for name in server.streams:
        server.delete(name)
