"""`spark-kinesis advise --apply`, on streams of the local Kinesis."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from spark_kinesis import SparkKinesisError
from spark_kinesis._boto import client as boto_client
from spark_kinesis.local import LocalKinesis
from spark_kinesis.tools.advising import measuring, resharding
from spark_kinesis.tools.advising.layout import Merge, Split, Step
from spark_kinesis.tools.advising.measuring import hash_key
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.facts.streams import HASH_KEYS, describe, list_shards
from tests.simulator.calls import client_of

QUARTER = HASH_KEYS // 4
HALVES, QUARTERS = (0, 2 * QUARTER), (0, QUARTER, 2 * QUARTER, 3 * QUARTER)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "SHARE", 1e6)
    monkeypatch.setattr(measuring, "ROWS", 20_000)
    monkeypatch.setattr(resharding, "PERIOD_SECONDS", 0.05)


@pytest.fixture(scope="module")
def slow() -> Iterator[LocalKinesis]:
    """A Kinesis whose changes and listings take their time, with the limits of AWS."""
    change, lag = timedelta(milliseconds=500), timedelta(milliseconds=700)
    with LocalKinesis(quotas="aws", change_time=change, list_lag=lag) as local:
        yield local


@pytest.fixture(scope="module")
def busy() -> Iterator[LocalKinesis]:
    """A Kinesis that lists new shards at once, while the stream is still changing."""
    with LocalKinesis(change_time=timedelta(milliseconds=500)) as local:
        yield local


def starts(client: Any, stream: str) -> list[int]:
    return sorted(it.first_key for it in list_shards(client, stream) if it.is_open)


class Change:
    def __init__(self, local: LocalKinesis, stream: str, wanted: tuple[int, ...]) -> None:
        self.client: Any = boto_client("a test", "kinesis", local.endpoint, None, None, attempts=5)
        self.stream = stream
        self.steps: list[Step] = []
        self.arn = describe(self.client, stream).arn
        self.initial, self.wanted = starts(self.client, self.arn), wanted

    def run(self) -> list[int]:
        for step in resharding.reshard(
            self.client, self.arn, initial=self.initial, wanted=self.wanted
        ):
            self.steps.append(step)
        return starts(self.client, self.stream)


def test_it_waits_for_changes_and_listings(slow: LocalKinesis) -> None:
    slow.create("waits", 2)
    change = Change(slow, "waits", (0, QUARTER, QUARTER + 100))
    assert change.run() == [0, QUARTER, QUARTER + 100]
    assert [type(it) for it in change.steps] == [Split, Split, Merge]
    assert not slow.stats().refused.get("SplitShard")


def test_it_makes_no_call_while_the_stream_changes(busy: LocalKinesis) -> None:
    busy.create("changing", 1)
    assert Change(busy, "changing", QUARTERS).run() == list(QUARTERS)
    assert not busy.stats().refused.get("SplitShard")


def test_a_change_that_was_made_already_makes_no_call(slow: LocalKinesis) -> None:
    slow.create("ready", 2)
    change = Change(slow, "ready", HALVES)
    assert change.run() == list(HALVES)
    assert change.steps == []


@pytest.fixture(scope="module")
def local() -> Iterator[LocalKinesis]:
    with LocalKinesis() as started:
        yield started


@pytest.mark.parametrize("fault", ["limit-exceeded", "internal-failure", "unavailable"])
def test_a_call_that_is_refused_is_made_again(local: LocalKinesis, fault: Any) -> None:
    local.create(fault, 2)
    change = Change(local, fault, QUARTERS)
    with local.fault(fault, operation="SplitShard", times=2) as struck:
        assert change.run() == list(QUARTERS)
        assert struck.struck == 2


def test_a_call_without_an_answer_is_not_made_twice(local: LocalKinesis) -> None:
    local.create("lost", 1)
    change = Change(local, "lost", HALVES)
    with local.fault("answer-lost", operation="SplitShard", times=1):
        assert change.run() == list(HALVES)
    assert len(list_shards(change.client, "lost")) == 3


def test_what_was_done_before_a_failure_is_known(local: LocalKinesis) -> None:
    local.create("denied", 2)
    change = Change(local, "denied", (0, QUARTER))
    with local.fault("access-denied", operation="MergeShards"), pytest.raises(ClientError):
        change.run()
    assert [type(it) for it in change.steps] == [Split]
    again = Change(local, "denied", (0, QUARTER))
    assert again.run() == [0, QUARTER]
    assert [type(it) for it in again.steps] == [Merge]


def test_a_call_that_is_refused_for_too_long_is_an_error(local: LocalKinesis) -> None:
    local.create("busy", 1)
    change = Change(local, "busy", HALVES)
    with local.fault("internal-failure", operation="SplitShard") as fault:
        with pytest.raises(ClientError, match="InternalFailure"):
            change.run()
        assert fault.struck == 5
    assert change.steps == []


def test_a_change_by_somebody_else_ends_it(local: LocalKinesis) -> None:
    local.create("shared", 2)
    change = Change(local, "shared", QUARTERS)
    local.split("shared", at=12345)
    with pytest.raises(SparkKinesisError, match=r"begins at hash key 12345, .*: somebody else"):
        change.run()
    assert change.steps == []


def hot(client: Any, stream: str) -> None:
    """Keys whose hash keys are in the lower quarter more often."""
    names = [f"key-{at}" for at in range(800)]
    keys = [it for it in names for _ in range(8 if hash_key(it) < QUARTER else 1)]
    for first in range(0, len(keys), 500):
        records = [{"PartitionKey": it, "Data": b"x" * 10} for it in keys[first : first + 500]]
        assert client.put_records(StreamName=stream, Records=records)["FailedRecordCount"] == 0


# In ten minutes, 2,200 records: 3.7 per second, so a shard of 0.2 % carries 2 per second.
WORDS = ["--sample", "10m", "--target", "0.2"]


def test_after_the_advice_no_shard_is_above_the_target(local: LocalKinesis, capsys: Any) -> None:
    local.create("uneven", 4)
    client = client_of(local.endpoint)
    hot(client, "uneven")
    words = ["advise", "--stream", "uneven", "--endpoint", local.endpoint, *WORDS]
    assert run([*words, "--json"]) == 1
    before = json.loads(capsys.readouterr().out)
    assert max(it["peak"]["records"] for it in before["shards"]) > 2
    assert run([*words, "--apply", "--yes"]) == 0
    out = capsys.readouterr().out
    assert f"Done: {len(before['steps'])} calls." in out
    wanted = [it["first_key"] for it in before["layout"]["pieces"]]
    assert starts(client, "uneven") == wanted
    hot(client, "uneven")  # the same traffic goes to the new shards
    assert run([*words, "--json"]) == 0
    after = json.loads(capsys.readouterr().out)
    assert after["steps"] == []
    assert max(it["peak"]["records"] for it in after["shards"]) <= 2


def test_nothing_changes_without_consent(
    local: LocalKinesis, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    local.create("asked", 1)
    client = client_of(local.endpoint)
    hot(client, "asked")
    words = ["advise", "--stream", "asked", "--endpoint", local.endpoint, *WORDS, "--apply"]
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert run(words) == 2
    assert "no terminal to ask" in capsys.readouterr().err
    terminal = io.StringIO("n\n")
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    assert run(words) == 1
    assert "Nothing was changed" in capsys.readouterr().err
    assert starts(client, "asked") == [0]


def test_a_failed_change_is_continued(local: LocalKinesis, capsys: Any) -> None:
    local.create("broken", 1)
    client = client_of(local.endpoint)
    hot(client, "broken")
    words = ["advise", "--stream", "broken", "--endpoint", local.endpoint, *WORDS]
    words += ["--target", "0.08", "--apply", "--yes"]
    with local.fault("access-denied", operation="SplitShard", skip=1):
        assert run(words) == 2
    err = capsys.readouterr().err
    assert "The change is not complete. Done: the first 1 of " in err
    assert len(starts(client, "broken")) == 2
    hot(client, "broken")  # the new shards have no records yet
    assert run(words) == 0
    assert len(starts(client, "broken")) > 2
