"""Queries that are stopped between two micro-batches, and write at least once."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from spark_kinesis import stop_gracefully
from tests.e2e.apps.cluster_queries import load
from tests.e2e.support.programs import application, told
from tests.e2e.support.streams import Stream, Written, wait_for, wait_more

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

PATIENCE = timedelta(minutes=3)


@pytest.mark.slow
def test_twelve_planned_restarts_under_load_write_no_row_twice(
    spark: SparkSession, simulator: str, checkpoint: Path
) -> None:
    source, target = Stream(simulator, shards=4), Stream(simulator, shards=1)
    rows = source.source().read_stream(spark).select("partitionKey", "data")
    sink = target.sink()
    with load(source, pause_seconds=0.05):
        for _ in range(12):
            query = sink.write_stream(rows, checkpoint_location=checkpoint).start()
            wait_more("rows", lambda: len(target.read_all()))
            assert stop_gracefully(query, PATIENCE)
            assert not query.isActive
    query = sink.write_stream(rows, checkpoint_location=checkpoint).start()
    wait_for("every row", lambda: len(set(target.read_all())) == len(source.written))
    assert stop_gracefully(query, PATIENCE)
    assert_each_once(source, target)


@pytest.mark.slow
def test_sigterm_of_the_program_or_its_jvm_ends_no_batch(simulator: str, tmp_path: Path) -> None:
    source, target = Stream(simulator, shards=4), Stream(simulator, shards=1)
    arguments = (simulator, source.name, target.name, "terminated")
    source.put(40)
    for process in ("program", "jvm"):
        copied = application("copied", *arguments, folder=tmp_path)
        with load(source, pause_seconds=0.2), copied as program:
            python, jvm = told(tmp_path)["pids"]
            wait_more("rows", lambda: len(target.read_all()))
            os.kill(jvm if process == "jvm" else python, signal.SIGTERM)
            code = program.wait(180)
            assert process == "jvm" or code == 0
    with application("copied", *arguments, folder=tmp_path) as program:
        wait_for("every row", lambda: len(set(target.read_all())) == len(source.written))
    assert_each_once(source, target)


def assert_each_once(source: Stream, target: Stream) -> None:
    """Check that the target has each record of the source once."""
    arrived = Counter(Written(**json.loads(data)) for _, data in target.read_all())
    assert arrived == Counter(source.written)
