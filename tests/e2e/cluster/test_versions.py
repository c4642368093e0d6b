"""Executors that have another jar than the driver: the query fails by name, and never waits."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from spark_kinesis import jar_path
from tests.e2e.support.programs import said_by

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.support.streams import Stream

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.parametrize("kinesis", ["simulator"], indirect=True),
]
MANIFEST = "META-INF/MANIFEST.MF"
CONDITIONS = ("KINESIS_EXECUTOR_FAILED", "KINESIS_INTERNAL_ERROR", "KINESIS_EXECUTOR_UNREACHABLE")


def copied_jar(folder: Path, *, without: str = "", version: str = "") -> Path:
    """A copy of the connector's jar without a class, or of another version."""
    copy = folder / "other.jar"
    with zipfile.ZipFile(jar_path()) as jar, zipfile.ZipFile(copy, "w") as changed:
        names = [entry.filename for entry in jar.infolist()]
        assert not without or f"{without}.class" in names
        for entry in jar.infolist():
            content = jar.read(entry)
            if version and entry.filename == MANIFEST:
                lines = content.decode().splitlines()
                kept = [line for line in lines if line and "Implementation-Version" not in line]
                content = "\r\n".join([*kept, f"Implementation-Version: {version}", ""]).encode()
            if not without or not entry.filename.startswith((f"{without}.", f"{without}$")):
                changed.writestr(entry, content)
    return copy


def error_with(stream: Stream, folder: Path, *executors_jar: str) -> str:
    """The error that ends a query whose executors have this jar, or none."""
    stream.put(40)
    arguments = [stream.endpoint, stream.name, str(folder), *executors_jar]
    return str(said_by("mismatched", *arguments, cwd=folder))


def test_executors_of_another_version_end_the_query_by_name(stream: Stream, tmp_path: Path) -> None:
    error = error_with(stream, tmp_path, str(copied_jar(tmp_path, version="0.0.1")))
    assert "KINESIS_VERSION_MISMATCH" in error
    assert "0.0.1" in error
    assert stream.name in error


def test_executors_without_the_connector_end_the_query_by_name(
    stream: Stream, tmp_path: Path
) -> None:
    error = error_with(stream, tmp_path)
    assert "KINESIS_EXECUTOR_FAILED" in error
    assert stream.name in error


# Without the first class nothing starts, without the second one nothing can be read, and without
# the third one no report arrives.
@pytest.mark.parametrize(
    "missing",
    [
        "sparkkinesis/source/fetch/FetchLoop",
        "sparkkinesis/source/fetch/PageMarks",
        "org/apache/spark/sparkkinesis/Messages",
    ],
)
def test_executors_that_lack_a_class_end_the_query_by_name(
    missing: str, stream: Stream, tmp_path: Path
) -> None:
    error = error_with(stream, tmp_path, str(copied_jar(tmp_path, without=missing)))
    assert any(condition in error for condition in CONDITIONS), error
    assert stream.name in error
