"""`spark-kinesis advise --plan`."""

from __future__ import annotations

import json

import pytest

from spark_kinesis.tools.cli import run

PLAN = ["advise", "--plan", "--events-per-minute", "120000", "--bytes", "1000"]


def test_a_plan_says_what_to_do_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*PLAN, "--seconds-per-event", "0.002"]) == 0
    out = capsys.readouterr().out
    # 2,000 records/s fill 2.00 shards, which are used up to 80 %.
    assert "shards: 3\n" in out
    assert "the records fill 2.00 shards" in out
    for line in (
        "capacity mode: provisioned",
        "aggregation: ",
        "reading: polling (consumerMode=polling)",
        "executors: 2 with 4 cores each",
        "fetchBufferSize: the default",
        "not checked against the price list: ",
    ):
        assert line in out


def test_a_plan_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*PLAN, "--peak", "4", "--hot-share", "0.2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    choices = {it["question"]: it for it in found["choices"]}
    assert choices["shards"]["answer"] == "10"
    assert choices["shards"]["figures"]["hot_key_used"] == pytest.approx(1.6)
    assert "uses 160% of a shard" in " ".join(choices["shards"]["reasons"])
    assert found["traffic"]["peak"] == {"records": 8000, "bytes": 8_000_000}
    assert {it["isChecked"] for it in found["prices"]["usd"]} == {True, False}


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--plan", "--bytes", "5"], "--plan needs --events-per-minute"),
        ([*PLAN[1:], "--peak", "0.5"], "--peak must be at least 1"),
        ([*PLAN[1:], "--hot-share", "2"], "--hot-share must be from 0 to 1"),
        ([*PLAN[1:4], "--bytes", "0"], "--bytes must be from 1"),
        (["--plan", "--bytes", "5", "--events-per-minute", "0"], "must be above 0"),
        ([*PLAN[1:], "--merge-below", "90"], "use after a merge"),
        ([*PLAN[1:], "--executor-memory", "4"], "must be a size such as 4g, not '4'"),
        ([*PLAN[1:], "--cores", "0"], "--cores must be at least 1"),
    ],
)
def test_wrong_options_are_named(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["advise", *words]) == 2
    assert complaint in capsys.readouterr().err
