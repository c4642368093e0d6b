"""Executors that start and end while queries run: each record once, each key in order."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis.local import LocalKinesis
from tests.e2e.support.cluster import cluster_on_linux
from tests.e2e.support.programs import run_app, said_by
from tests.e2e.support.streams import CONSUMERS, FAN_OUT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = cluster_on_linux("finds processes in /proc, uses more loopback addresses")
GOOD = {"lost": 0, "duplicated": 0, "out_of_order": 0, "foreign": 0}


def verdict_in(said: dict[str, Any]) -> dict[str, Any]:
    return {name: said[name] for name in GOOD}


@pytest.mark.parametrize("mode", CONSUMERS)
def test_lost_and_added_executors_lose_no_record(simulator: str, tmp_path: Path, mode: str) -> None:
    said = said_by("cluster_queries", simulator, str(tmp_path), mode, cwd=tmp_path)
    assert {step: verdict_in(what) for step, what in said.items()} == dict.fromkeys(said, GOOD)
    assert said["killed_in_batch"]["reread"] > 0
    assert said["decommissioned"]["words"]
    left = [what[how] for what in said.values() for how in ("left", "removed") if how in what]
    assert len(left) == len(set(left)) == 5
    assert said["added"]["stayed"]
    assert said["added"]["shares"] == [2, 2]


def test_repeated_and_copied_tasks_lose_no_record(simulator: str, tmp_path: Path) -> None:
    said = said_by("attempts", simulator, str(tmp_path), cwd=tmp_path)
    assert {step: verdict_in(what) for step, what in said.items()} == dict.fromkeys(said, GOOD)
    assert 2 in said["fail"]["attempts"]
    assert 1 in said["slow"]["attempts"]
    assert set(said["slow"]["again"]) - set(said["slow"]["first"])
    assert said["slow"]["reread"] > 0


def test_dynamic_allocation_keeps_the_executors_that_read_ahead(
    simulator: str, tmp_path: Path
) -> None:
    said = said_by("allocation", simulator, str(tmp_path), FAN_OUT, cwd=tmp_path)
    assert verdict_in(said) == GOOD
    assert said["before"] == 2
    assert said["stayed"]
    assert said["shares"] == [2, 2]
    assert said["reread"] == 0


def test_queries_share_a_stream_and_its_quotas(tmp_path: Path) -> None:
    with LocalKinesis(quotas="aws") as kinesis:
        said = said_by("sessions", kinesis.endpoint, str(tmp_path), cwd=tmp_path)
    assert said["verdicts"] == dict.fromkeys(("one", "two", "new", "clone"), GOOD)
    assert said["throttled"] > 0


def test_a_stopped_session_leaves_no_threads(simulator: str, tmp_path: Path) -> None:
    ended = run_app("stopped", simulator, str(tmp_path), cwd=tmp_path)
    said = json.loads(ended.stdout.splitlines()[-1])
    assert len(said) == 2
    for turn in said:
        assert "spark-kinesis-fetch" in turn["before"]
        assert turn["after"] == []
    assert len(ended.stderr.splitlines()) < 1000, "it logs its end again and again"
