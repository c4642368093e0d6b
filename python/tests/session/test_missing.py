"""Sessions without the connector: the error says what to do."""

from __future__ import annotations

from typing import Any

import pytest

from spark_kinesis import KinesisJarMissingError, KinesisSink, KinesisSource
from spark_kinesis._session.missing import explain_missing_jar, require_connector

NOT_FOUND = "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: spark-kinesis. Make sure"


class Session:
    """A session whose reader fails."""

    def __init__(self, message: str) -> None:
        self.message = message

    def __getattr__(self, name: str) -> Any:
        return self

    def format(self, _: str) -> Session:
        return self

    def options(self, **_: str) -> Session:
        return self

    def load(self) -> None:
        raise RuntimeError(self.message)

    def save(self) -> None:
        raise RuntimeError(self.message)

    def mode(self, _: str) -> Session:
        return self


class ConnectSession(Session):
    """A session of Spark Connect, as the module of its class shows."""


ConnectSession.__module__ = "pyspark.sql.connect.session"


def test_the_error_of_spark_is_explained() -> None:
    def fail(message: str) -> None:
        with explain_missing_jar():
            raise RuntimeError(message)

    with pytest.raises(KinesisJarMissingError, match="with_kinesis") as caught:
        fail("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: spark-kinesis")
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(RuntimeError, match="something else"):
        fail("something else")
    for other in ("mongodb", "kinesis.v2.Source", "kinesis-analytics"):
        with pytest.raises(RuntimeError, match="DATA_SOURCE_NOT_FOUND"):
            fail(f"[DATA_SOURCE_NOT_FOUND] Failed to find the data source: {other}. Make sure")


def test_a_session_is_checked_for_the_connector() -> None:
    require_connector(Session("[KINESIS_INVALID_OPTION] no stream"))  # type: ignore[arg-type]
    with pytest.raises(KinesisJarMissingError, match="no Kinesis connector"):
        require_connector(Session(NOT_FOUND))  # type: ignore[arg-type]


def test_a_server_of_spark_connect_needs_the_jar_itself() -> None:
    session: Any = ConnectSession(NOT_FOUND)
    source, sink = KinesisSource(stream_name="s"), KinesisSink(stream_name="s")
    for use in (require_connector, source.read, source.read_stream, sink.write, sink.write_stream):
        with pytest.raises(KinesisJarMissingError, match="addArtifacts"):
            use(session)
