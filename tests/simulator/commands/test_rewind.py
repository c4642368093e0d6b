"""`spark-kinesis rewind` of a query whose records have expired."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis._times import instant
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.facts.checkpoints import Checkpoint, next_position
from spark_kinesis.tools.facts.files import open_files

if TYPE_CHECKING:
    from tests.simulator.commands.written import Query

FIRST = "shardId-000000000000"
DAY = 86_400


class Stopped:
    """A query that has read three of six records, and then stopped."""

    def __init__(self, query: Query) -> None:
        self.query = query
        query.kinesis.advance(DAY * 30)  # the stream is older than its records
        self.began = query.put(6)
        self.numbers = [int(it["SequenceNumber"]) for it in self.records()]
        self.complete(2)

    def complete(self, last: int) -> None:
        """Complete a micro-batch that ends with a record of the first shard."""
        place = ShardOffset(
            progress=Progress.AFTER,
            sequence_number=self.numbers[last],
            complete_as_of=self.began + timedelta(seconds=last),
        )
        self.query.complete(s0=place, s1=ShardOffset(progress=Progress.TRIM_HORIZON))

    def records(self) -> list[Any]:
        """The records of the first shard."""
        client = self.query.client
        iterator = client.get_shard_iterator(
            StreamName="orders", ShardId=FIRST, ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        return list(client.get_records(ShardIterator=iterator)["Records"])

    def rewind(self, to: str, *words: str) -> int:
        """Move the query."""
        return run(self.query.words("rewind", "--yes", "--watch", "0s", "--to", to, *words))

    @property
    def place(self) -> ShardOffset:
        """Where the query continues in the first shard."""
        offset = next_position(Checkpoint(open_files(str(self.query.folder))))
        return offset.streams[self.query.arn].shards[FIRST]


@pytest.fixture
def stopped(query: Query) -> Stopped:
    return Stopped(query)


@pytest.mark.parametrize("to", ["time", "trim_horizon", "latest"])
def test_a_query_whose_unread_records_have_expired_is_not_moved(
    stopped: Stopped, capsys: pytest.CaptureFixture[str], to: str
) -> None:
    before = stopped.place
    stopped.query.kinesis.advance(3 * DAY)
    words = {"time": instant(stopped.began)}
    assert stopped.rewind(words.get(to, to)) == 1
    said = capsys.readouterr()
    assert f"orders {FIRST}: LOST: " in said.out
    assert "Nothing was changed." in said.out
    assert "--allow-data-loss" in said.err
    assert stopped.place == before
    assert stopped.rewind(words.get(to, to), "--allow-data-loss") == 0
    (folder,) = (stopped.query.folder / "rewinds").iterdir()
    assert f"orders {FIRST}: LOST: " in (folder / "plan.txt").read_text()
    assert stopped.place != before


def test_a_time_before_the_retention_period_is_refused(
    stopped: Stopped, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped.query.kinesis.advance(3 * DAY)
    stopped.began = stopped.query.put(6)
    stopped.numbers = [int(it["SequenceNumber"]) for it in stopped.records()]
    stopped.complete(5)
    assert stopped.rewind(instant(stopped.began - timedelta(days=2))) == 1
    assert "may have expired" in capsys.readouterr().out
    assert stopped.rewind(instant(stopped.began)) == 0
    assert "LOST" not in capsys.readouterr().out


def test_a_move_to_the_same_place_drops_an_expired_time(
    stopped: Stopped, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = ShardOffset(progress=Progress.TRIM_HORIZON, complete_as_of=stopped.began)
    stopped.query.complete(s0=begun, s1=ShardOffset(progress=Progress.TRIM_HORIZON))
    before = stopped.place
    assert stopped.rewind("trim_horizon") == 0
    assert stopped.place == before
    stopped.query.kinesis.advance(3 * DAY)
    assert stopped.rewind("trim_horizon") == 1
    assert f"orders {FIRST}: LOST: " in capsys.readouterr().out
    assert stopped.place == before
    assert stopped.rewind("trim_horizon", "--allow-data-loss") == 0
    assert (stopped.place.place, stopped.place.complete_as_of) == (before.place, None)
