"""`spark-kinesis top` with a large stream, and the limits that its help names."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from spark_kinesis.local import LocalKinesis
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.top import command
from spark_kinesis.tools.top.probes import PERIOD, PROBES_PER_SECOND, SAMPLE_BYTES
from tests.simulator.commands.written import Query, at


@pytest.mark.slow
def test_a_thousand_shards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with LocalKinesis(streams={"orders": 1000}, clock="simulated") as kinesis:
        query = Query(kinesis, tmp_path)
        began = query.put(1)
        query.complete(**{f"s{number}": at(began) for number in range(1000)})
        kinesis.reset_stats()
        assert run(query.words("top", "--once", "--json")) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["totals"]["measured"] == 1000
        assert found["totals"]["records"] == 1
        assert kinesis.stats().calls["GetRecords"] == 1001


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--interval 100ms", "at least 500ms"),
        ("--interval 2", "'2' is not a duration such as"),
        ("--html page.html --json", "--html and --json exclude each other"),
        ("--once --for 1m", "--once and --for exclude each other"),
        # Found out before the command watches the query, and not after.
        ("--html missing/page.html", "there is no folder missing"),
    ],
)
def test_odd_options_are_refused(words: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["top", "--checkpoint", "x", *words.split()]) == 2
    assert why in capsys.readouterr().err


def test_the_limits_of_the_help_are_those_of_the_code() -> None:
    text = " ".join((command.top.help or "").split())
    assert timedelta(seconds=5) == PERIOD
    assert "once in five seconds" in text
    assert f"at most {PROBES_PER_SECOND:.0f} times per second" in text
    assert f"about {SAMPLE_BYTES // 1024} kB" in text
