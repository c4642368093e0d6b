"""`spark-kinesis top` with a large stream, and the limits that its help names."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from spark_kinesis.live import command
from spark_kinesis.live.model.rotation import PERIOD, PROBES_PER_SECOND, SAMPLE_BYTES
from spark_kinesis.local import LocalKinesis
from spark_kinesis.tools.cli import run
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


def test_an_odd_interval_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["top", "--checkpoint", "x", "--interval", "0.1"]) == 2
    assert "0.1 is not in the range" in capsys.readouterr().err


def test_the_limits_of_the_help_are_those_of_the_code() -> None:
    text = " ".join((command.top.help or "").split())
    assert timedelta(seconds=5) == PERIOD
    assert "once in five seconds" in text
    assert f"at most {PROBES_PER_SECOND:.0f} times per second" in text
    assert f"about {SAMPLE_BYTES // 1024} kB" in text
