"""How findings are shown."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from spark_kinesis.tools.examination import Report
from spark_kinesis.tools.examination.command import show
from spark_kinesis.tools.examination.finding import Section

FINDINGS = [
    Section("software").ok("java", "Java 17"),
    Section("stream").problem(
        "status", "stream <b> is DELETING", "Name another stream.", ("a", "b")
    ),
    Section("quota").unknown("reads", "no metrics", "Allow cloudwatch:GetMetricData."),
]
SICK, WELL = Report(FINDINGS), Report([FINDINGS[0], FINDINGS[2]])


def test_only_problems_make_a_set_up_unhealthy() -> None:
    assert (SICK.is_healthy, WELL.is_healthy) == (False, True)
    assert SICK.problems == [FINDINGS[1]]
    assert (len(SICK), SICK[0], list(SICK[1:])) == (3, FINDINGS[0], FINDINGS[1:])
    assert SICK.verdict == "1 problem in 3 findings, 1 unknown"
    assert Report([]).verdict == "no problems in no findings"


def test_the_text_has_the_remedies_first() -> None:
    assert repr(SICK).splitlines() == [
        "✘ stream <b> is DELETING",
        "  Name another stream.",
        "",
        "✔ software: java: Java 17",
        "✘ stream: status: stream <b> is DELETING",
        "    a",
        "    b",
        "? quota: reads: no metrics. Allow cloudwatch:GetMetricData.",
        "1 problem in 3 findings, 1 unknown",
    ]


def test_a_notebook_shows_a_table_without_foreign_markup() -> None:
    html = SICK._repr_html_()
    assert html.index("Name another stream.") < html.index("<table>")
    assert "stream &lt;b&gt; is DELETING" in html
    assert html.count("<tr>") == 4
    assert "<details><summary>2 lines</summary>a<br>b</details>" in html


def test_a_terminal_shows_a_table() -> None:
    out = StringIO()
    show(
        SICK, Console(file=out, force_terminal=True, width=60, no_color=True, legacy_windows=False)
    )
    text = out.getvalue()
    assert text.index("Name another stream.") < text.index("Subject")
    rows = [line.split() for line in text.splitlines()]
    assert any("software" in row and "java" in row for row in rows)


def test_without_a_terminal_a_finding_is_one_line() -> None:
    out = StringIO()
    show(SICK, Console(file=out, width=20, soft_wrap=True, highlight=False))
    assert out.getvalue() == f"{SICK!r}\n"
