"""How findings are shown."""

from __future__ import annotations

from spark_kinesis.tools.examination import Report
from spark_kinesis.tools.examination.finding import Section

FINDINGS = [
    Section("software").ok("java", "Java 17"),
    Section("stream").problem("status", "stream a is DELETING", "Name another stream."),
    Section("quota").unknown("reads", "no metrics", "Allow cloudwatch:GetMetricData."),
]
SICK, WELL = Report(FINDINGS), Report([FINDINGS[0], FINDINGS[2]])


def test_only_problems_make_a_set_up_unhealthy() -> None:
    assert (SICK.is_healthy, WELL.is_healthy) == (False, True)
    assert SICK.problems == [FINDINGS[1]]
    assert (len(SICK), SICK[0], list(SICK[1:])) == (3, FINDINGS[0], FINDINGS[1:])


def test_the_text_has_each_finding_once_and_the_problems_first() -> None:
    assert repr(SICK).splitlines() == [
        "✘ stream: status: stream a is DELETING",
        "  Name another stream.",
        "",
        "✔ software: java: Java 17",
        "? quota: reads: no metrics. Allow cloudwatch:GetMetricData.",
        "Findings: 3. Problems: 1. Unknown: 1.",
    ]
