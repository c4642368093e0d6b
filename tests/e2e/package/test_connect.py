"""Spark Connect, and sessions without the connector, each in a separate process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.support.programs import run_app

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.support.streams import Stream

pytestmark = pytest.mark.spark4


@pytest.mark.parametrize("kinesis", ["simulator"], indirect=True)
def test_spark_connect_writes_and_reads(stream: Stream, tmp_path: Path) -> None:
    checkpoint = str(tmp_path / "checkpoint")
    ended = run_app("connect_session", stream.endpoint, stream.name, checkpoint, cwd=tmp_path)
    said = json.loads(ended.stdout.splitlines()[-1])
    assert said["session"] == "pyspark.sql.connect.session"
    assert said["between"], "the query did not stop between two micro-batches"
    assert said["together"], "the source did not see the watermark of the query"
    assert said["rows"] == sorted([f"key-{n % 5}", str(n)] for n in range(100))
    letters = said["letters"]  # one per micro-batch, of which the first one ran twice
    assert letters["unnamed"] == letters["named"] + 1 > 1


@pytest.mark.parametrize("kind", ["classic", "connect"])
def test_a_session_without_the_jar_says_what_to_do(kind: str, tmp_path: Path) -> None:
    said = run_app("no_jar", kind, cwd=tmp_path).stdout
    for user in ("source", "sink"):
        (line,) = (line for line in said.splitlines() if line.startswith(f"{user}: "))
        assert "with_kinesis" in line
        assert "jar_path()" in line
