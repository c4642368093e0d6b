"""Kinesis tables in a session of Delta Lake or Iceberg, with the libraries themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyspark
import pytest

from tests.e2e.support.programs import said_by

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.support.streams import Stream

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,  # it downloads the libraries
    pytest.mark.spark4,
    pytest.mark.parametrize("kinesis", ["simulator"], indirect=True),
]
MINOR = ".".join(pyspark.__version__.split(".")[:2])
# The libraries that Maven Central was seen to have, by Spark's minor version.
MODULES = {
    "4.0": {
        "delta": "io.delta:delta-spark_2.13:4.0.0",
        "iceberg": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.0",
    }
}
REFUSED = "KINESIS_UNSUPPORTED_CATALOG"
NOT_FOUND = "TABLE_OR_VIEW_NOT_FOUND"


def outcomes(form: str, catalog: str, stream: Stream, folder: Path) -> dict[str, object]:
    """What came of each step of a session with 12 records in the stream."""
    if MINOR not in MODULES:
        pytest.skip(f"the libraries for Spark {MINOR} were not tried")
    stream.put(12)
    module = MODULES[MINOR][form]
    said: dict[str, object] = said_by(
        "lakehouse_session",
        *(form, module, catalog, stream.endpoint, stream.name, str(folder)),
        cwd=folder,
    )
    return said


@pytest.mark.parametrize("form", ["delta", "iceberg"])
def test_a_table_is_refused_in_the_session_catalog_of_another_format(
    form: str, stream: Stream, tmp_path: Path
) -> None:
    assert outcomes(form, "spark_catalog", stream, tmp_path) == {
        "create": REFUSED,
        "insert": NOT_FOUND,
        "select": NOT_FOUND,
        "function": 12,
        "copy": 0,
        "copied": 12,
    }


def test_a_table_works_beside_a_catalog_of_iceberg(stream: Stream, tmp_path: Path) -> None:
    assert outcomes("iceberg", "lake", stream, tmp_path) == {
        "create": 0,
        "insert": 0,
        "select": 13,
        "function": 13,
        "copy": 0,
        "copied": 13,
    }
