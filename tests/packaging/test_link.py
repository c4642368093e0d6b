"""What the jar refers to in Spark is what `make link-check` found in every supported Spark."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path

from spark_kinesis import jar_path
from tests.link.check import REFERENCES, references


def test_the_jar_refers_to_nothing_else_in_spark() -> None:
    checked = REFERENCES.read_text(encoding="utf-8").splitlines()
    found = references(Path(jar_path())).splitlines()
    changes = list(unified_diff(checked, found, n=0, lineterm=""))[2:]
    assert changes == [], "run `make link-check`, which needs 430 MB per Spark once"
