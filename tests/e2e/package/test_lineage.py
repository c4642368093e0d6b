"""OpenLineage's Spark listener, from its jar on Maven Central, reports the streams of queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.support.programs import said_by

if TYPE_CHECKING:
    from pathlib import Path

LISTENER = "io.openlineage:openlineage-spark_2.13:1.53.0"
ORDERS, RETURNS, COPIES, ARCHIVE = (
    f"arn:aws:kinesis:us-east-1:000000000000:stream/{name}"
    for name in ("orders", "returns", "copies", "archive")
)


@pytest.mark.slow
@pytest.mark.long  # it downloads OpenLineage
@pytest.mark.spark4
def test_openlineage_reports_the_streams_that_queries_read_and_write(tmp_path: Path) -> None:
    assert said_by("lineage_session", LISTENER, str(tmp_path), cwd=tmp_path) == [
        [[], [ORDERS]],
        [[ORDERS], []],
        [[ORDERS, RETURNS], [COPIES]],
        [[ORDERS, RETURNS], [ARCHIVE]],
    ]
