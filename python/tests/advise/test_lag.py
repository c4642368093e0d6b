"""How far a query is behind, if some shards cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from botocore.exceptions import ClientError

from spark_kinesis.advise.measure.lag import Lag, lag_of
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.facts.files import open_files
from spark_kinesis.tools.facts.offsets import (
    Progress,
    ShardOffset,
    SourceOffset,
    StreamOffset,
    encode,
)

NOW = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)
ARN = "arn:aws:kinesis:us-east-1:123456789012:stream/orders"
EXPIRED, THROTTLED = "ResourceNotFoundException", "ProvisionedThroughputExceededException"
READ = ShardOffset(progress=Progress.AFTER, sequence_number=7)


class Kinesis:
    """Has one unread record in each shard: its age in seconds, or an error."""

    def __init__(self, shards: Mapping[str, float | str], together: int = 1) -> None:
        self.shards, self.barrier = shards, Barrier(together)

    def get_shard_iterator(self, **request: Any) -> Any:
        self.barrier.wait(timeout=10)
        found = self.shards[request["ShardId"]]
        if isinstance(found, str):
            raise ClientError({"Error": {"Code": found, "Message": ""}}, "GetShardIterator")
        return {"ShardIterator": request["ShardId"]}

    def get_records(self, **request: Any) -> Any:
        age = timedelta(seconds=float(self.shards[request["ShardIterator"]]))
        record = {"ApproximateArrivalTimestamp": NOW - age, "SequenceNumber": "8", "Data": b""}
        return {"Records": [record], "MillisBehindLatest": 0, "NextShardIterator": "x"}


class Query:
    """A query that has read some shards, with one or several sources."""

    def __init__(self, folder: Path, *sources: list[str]) -> None:
        streams = [StreamOffset(created="", shards=dict.fromkeys(it, READ)) for it in sources]
        texts = [encode(SourceOffset(streams={ARN: it})) for it in streams]
        for name, lines in (("offsets", ["v1", "{}", *texts]), ("commits", ["v1"])):
            (folder / name).mkdir()
            (folder / name / "0").write_text("\n".join(lines), encoding="utf-8")
        self.checkpoint = Checkpoint(open_files(str(folder)))
        self.steps: list[tuple[int, int]] = []

    def lag(self, kinesis: Kinesis) -> Lag:
        def advance(done: int, total: int) -> None:
            self.steps.append((done, total))

        return lag_of(kinesis, self.checkpoint, ARN, NOW, advance)  # type: ignore[arg-type]


def test_a_shard_that_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    kinesis = Kinesis({"a": 5, "b": EXPIRED, "c": THROTTLED, "d": 90, "e": EXPIRED})
    query = Query(tmp_path, list("abcde"))
    found = query.lag(kinesis)
    assert found.age == timedelta(seconds=90)
    assert found.unknown == {"b": EXPIRED, "c": THROTTLED, "e": EXPIRED}
    assert list(found.notes()) == [
        "The lag does not contain b, e: all records there have expired.",
        "The lag does not contain c: other readers use up the read quota.",
    ]
    assert query.steps == [(done, 5) for done in range(6)]


def test_a_lag_without_a_readable_shard_is_unknown(tmp_path: Path) -> None:
    assert Query(tmp_path, ["a"]).lag(Kinesis({"a": THROTTLED})).age is None


def test_another_error_ends_the_advice(tmp_path: Path) -> None:
    with pytest.raises(ClientError, match="AccessDenied"):
        Query(tmp_path, ["a"]).lag(Kinesis({"a": "AccessDeniedException"}))


def test_shards_are_read_at_once(tmp_path: Path) -> None:
    kinesis = Kinesis({"a": 1, "b": 2, "c": 3}, together=3)  # each waits for the others
    assert Query(tmp_path, list("abc")).lag(kinesis) == Lag(age=timedelta(seconds=3))


def test_all_sources_of_a_stream_count(tmp_path: Path) -> None:
    found = Query(tmp_path, ["a"], ["b"]).lag(Kinesis({"a": 1, "b": 60}))
    assert found == Lag(age=timedelta(seconds=60))


def test_a_query_that_has_finished_its_shards_is_not_behind(tmp_path: Path) -> None:
    assert Query(tmp_path, []).lag(Kinesis({})) == Lag(age=timedelta())
