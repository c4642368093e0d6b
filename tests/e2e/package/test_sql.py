"""Streams in SQL: the function `read_kinesis`, and `WATERMARK`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyspark
import pytest

from tests.e2e.support.programs import said_by

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.support.streams import Stream

pytestmark = [
    pytest.mark.spark4,
    pytest.mark.parametrize("kinesis", ["simulator"], indirect=True),
]
SPARK = tuple(map(int, pyspark.__version__.split(".")[:2]))
NOT_PARSED = "PARSE_SYNTAX_ERROR"


@pytest.mark.parametrize("kind", ["classic", "connect"])
def test_read_kinesis_reads_and_streams(kind: str, stream: Stream, tmp_path: Path) -> None:
    stream.put(12)
    folder = str(tmp_path)
    said = said_by("sql_session", stream.endpoint, stream.name, kind, folder, cwd=tmp_path)
    with_watermark = 12 if SPARK >= (4, 1) else NOT_PARSED
    assert said == {
        "batch": 12,
        "stream": 12,
        "stream without parentheses": 12 if SPARK >= (4, 2) else NOT_PARSED,
        "stream with watermark": with_watermark,
        "table with watermark": with_watermark,
    }
