"""A stub server for each test, and a client of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from python.tests.local.stub_server import Stub
from spark_kinesis.local import LocalEndpoint


@pytest.fixture
def stub() -> Iterator[Stub]:
    made = Stub()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture
def kinesis(stub: Stub) -> LocalEndpoint:
    return LocalEndpoint(f"http://127.0.0.1:{stub.server.server_address[1]}")
