"""Runs the end-to-end tests on one Spark, for docs/reference/spark-versions.md."""

from __future__ import annotations

import os
import re
import sys
from datetime import datetime, timezone
from pathlib import Path

from tests.run_all import Tally, run
from tests.scopes import spark_part
from tests.sparks import ALL, ROOT, check_known

REPORT = ROOT / "docs" / "reference" / "spark-versions.md"
ROW = re.compile(r"^\| (\d+\.\d+\.\d+) \|.*$", re.MULTILINE)
HEAD = """\
# Spark versions

One jar serves Spark 4.0 to 4.3. Spark 3.5 with Scala 2.12 needs a second jar, which
`make jar-2.12` builds from the same sources. A release of the Python package contains both jars
and chooses the right one. [ADR 10](../adr/0010-spark-3-5.md) lists what the second jar does not
support.

`make test-spark SPARK=<version>` runs the end-to-end tests on one version, with the same wheel.
Tests about Spark's scheduler on a cluster run on the oldest version only. On Spark 3.5, only the
tests of streaming queries run. CI runs all of them on the oldest Spark 4, and some on Spark 3.5 and
on the newest version. Last results:

| Spark | Date | Java | Passed | Failed | Skipped |
|---|---|---|--:|--:|--:|
"""


def with_row(report: str, spark: str, row: str) -> str:
    """The report with a Spark's last result replaced, and without Sparks we serve no longer."""
    rows = {found[1]: found[0] for found in ROW.finditer(report)} | {spark: row}
    return HEAD + "".join(f"{rows[known]}\n" for known in ALL if known in rows)


def row_of(spark: str, day: str, java: str, tally: Tally) -> str:
    """A result as a row of the table."""
    counts = f"{tally.passed} | {len(tally.failed)} | {len(tally.skipped)}"
    return f"| {spark} | {day} | {java} | {counts} |"


def java() -> str:
    """The program `java` of the JDK in `JAVA_HOME`."""
    return str(Path(os.environ["JAVA_HOME"], "bin", "java"))


def java_version() -> str:
    """What the JDK says of itself."""
    release = Path(os.environ["JAVA_HOME"], "release").read_text(encoding="utf-8")
    found = re.search(r'^JAVA_VERSION="(.+)"$', release, re.MULTILINE)
    return found[1] if found else "unknown"


def main(spark: str) -> int:
    """Run, write, and say how it went."""
    check_known(spark)
    tally = run(spark_part(spark))
    if tally.passed:  # one that was cut short says nothing
        day = datetime.now(timezone.utc).date().isoformat()
        before = REPORT.read_text(encoding="utf-8") if REPORT.exists() else ""
        row = row_of(spark, day, java_version(), tally)
        REPORT.write_text(with_row(before, spark, row), encoding="utf-8")
    for skipped in tally.skipped:
        print(f"skipped: {skipped}")
    print(f"Spark {spark}: {tally}")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
