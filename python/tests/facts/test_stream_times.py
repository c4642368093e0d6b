"""When records have expired, and whether a stream is the one of a position."""

from __future__ import annotations

from datetime import timedelta

import pytest

from python.tests.migrate.streams import NOW, TIMES
from spark_kinesis.tools.facts.losses import created_again
from spark_kinesis.tools.facts.streams import UNKNOWN_CREATION, full_id

SHARDS = ["shardId-000000000003", "shardId-000000000013", "named"]


def test_records_older_than_the_horizon_have_expired() -> None:
    assert TIMES.has_expired(TIMES.horizon)
    assert not TIMES.has_expired(TIMES.horizon + timedelta(milliseconds=1))


@pytest.mark.parametrize("seconds", [0, 0.9, -0.9])
def test_positions_have_creation_times_to_the_second(seconds: float) -> None:
    assert created_again("arn", NOW, NOW + timedelta(seconds=seconds)) is None
    assert created_again("arn", NOW, None) is None
    assert created_again("arn", None, NOW) is None


def test_an_emulator_that_names_no_creation_time_has_not_created_the_stream_again() -> None:
    assert created_again("arn", NOW, UNKNOWN_CREATION) is None
    assert created_again("arn", UNKNOWN_CREATION, NOW) is None


@pytest.mark.parametrize("seconds", [1, -1, 86_400])
def test_another_creation_time_is_one_of_another_stream(seconds: int) -> None:
    found = created_again("arn", NOW, NOW + timedelta(seconds=seconds))
    assert found is not None
    assert found.startswith("stream arn was created at 2026-01-02T03:04:05Z, and the positions")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("3", SHARDS[0]), ("03", SHARDS[0]), (SHARDS[1], SHARDS[1]), ("named", "named"), ("4", "4")],
)
def test_a_number_means_a_shard(wanted: str, found: str) -> None:
    assert full_id(SHARDS, wanted) == found
