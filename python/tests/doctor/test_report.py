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


def test_the_text_has_the_remedies_first() -> None:
    assert repr(SICK).splitlines() == [
        "✘ stream a is DELETING",
        "  Name another stream.",
        "",
        "✔ software: java: Java 17",
        "✘ stream: status: stream a is DELETING",
        "? quota: reads: no metrics. Allow cloudwatch:GetMetricData.",
        "3 findings: 1 problems, 1 unknown",
    ]
