"""Draws docs/doctor.svg: what `spark-kinesis doctor` prints on a terminal.

Run it with the package installed: `.venv/bin/python docs/site/doctor_picture.py`.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI

from spark_kinesis.local import LocalKinesis
from spark_kinesis.tools import doctor
from spark_kinesis.tools.examination import Finding, Report
from spark_kinesis.tools.examination.command import show

TARGET = Path(__file__).resolve().parents[1] / "doctor.svg"
COMMAND = "spark-kinesis doctor --stream orders --consumer reports"
WIDTH = 112
# The fonts that rich names are on another server. A page loads nothing from elsewhere.
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def main() -> None:
    """Examine a stream of a local Kinesis that refuses reads, and draw the findings."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    with LocalKinesis(streams={"orders": 2}, port=4567) as kinesis:
        kinesis.split("orders")
        with kinesis.fault("access-denied", operation="GetRecords"):
            report = doctor("orders", consumer="reports", endpoint=kinesis.endpoint)
    show(Report(filter(_is_the_same_everywhere, report)), console)
    picture = console.export_svg(title=COMMAND, theme=DIMMED_MONOKAI, unique_id="doctor")
    TARGET.write_text(_FONTS.sub("", picture), encoding="utf-8")


def _is_the_same_everywhere(finding: Finding) -> bool:
    """A picture shows no path, and no time that differs from run to run."""
    return finding.subject not in ("jar", "round trip", "clock")


if __name__ == "__main__":
    main()
