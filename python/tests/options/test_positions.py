"""Positions are values: they compare, hash, and cannot change."""

from __future__ import annotations

import copy
import pickle
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis import (
    AfterSequenceNumber,
    AtTimestamp,
    ByShard,
    ByStream,
    KinesisSource,
    Latest,
    TrimHorizon,
)

if TYPE_CHECKING:
    from collections.abc import Callable

NOON = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)


def by_stream() -> ByStream:
    shards = ByShard({"shardId-1": AfterSequenceNumber("49")}, others=Latest())
    return ByStream({"orders": shards, "refunds": AtTimestamp(NOON)})


def source() -> KinesisSource:
    return KinesisSource(stream_name=["orders", "refunds"], starting_position=by_stream())


@pytest.mark.parametrize("make", [by_stream, source])
def test_equal_values_have_equal_hashes(make: Callable[[], object]) -> None:
    assert make() == make()
    assert hash(make()) == hash(make())
    assert len({make(), make()}) == 1


def test_other_positions_are_not_equal() -> None:
    one = ByShard({"shardId-1": Latest()}, others=Latest())
    assert one != ByShard({"shardId-1": TrimHorizon()}, others=Latest())
    assert one != ByShard({"shardId-2": Latest()}, others=Latest())


def test_the_mappings_of_positions_cannot_change() -> None:
    shards: Any = ByShard({"shardId-1": Latest()}, others=Latest()).shards
    streams: Any = by_stream().streams
    for mapping in (shards, streams):
        with pytest.raises(TypeError, match="item assignment"):
            mapping["shardId-2"] = Latest()
        with pytest.raises(TypeError, match="item deletion"):
            del mapping["shardId-1"]
        with pytest.raises(AttributeError):
            mapping.clear()


def test_positions_copy_and_pickle() -> None:
    assert copy.deepcopy(by_stream()) == by_stream()
    assert pickle.loads(pickle.dumps(source())) == source()


def test_a_word_is_the_position_of_its_name() -> None:
    said = KinesisSource(stream_name="s", starting_position="latest", ending_position="latest")
    assert said == KinesisSource(
        stream_name="s", starting_position=Latest(), ending_position=Latest()
    )
    assert said.starting_position == Latest()
    shards = ByShard({"shardId-1": "trim_horizon"}, others="latest")
    assert shards == ByShard({"shardId-1": TrimHorizon()}, others=Latest())
    assert ByStream({"s": "trim_horizon"}) == ByStream({"s": TrimHorizon()})


def test_a_batch_read_from_the_word_latest_is_refused() -> None:
    with pytest.raises(ValueError, match="would be empty"):
        KinesisSource(stream_name="s", starting_position="latest").read(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("word", "hint"),
    [("LATEST", "'latest'"), ("trim-horizon", "'trim_horizon'"), ("latests", "'latest'")],
)
def test_another_word_names_the_nearest(word: Any, hint: str) -> None:
    for make in (
        lambda: KinesisSource(stream_name="s", starting_position=word),
        lambda: ByShard({"shardId-1": word}, others=Latest()),
        lambda: ByShard({}, others=word),
        lambda: ByStream({"s": word}),
    ):
        with pytest.raises(ValueError, match=f"'latest' or 'trim_horizon', not .* mean {hint}"):
            make()


def test_ago_is_relative_to_the_time_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_kinesis._options.positions._now", lambda: NOON)
    assert AtTimestamp.ago(timedelta(hours=1)) == AtTimestamp(NOON - timedelta(hours=1))
    assert AtTimestamp.ago(timedelta(0)).when == NOON


def test_the_clock_of_ago_has_a_zone() -> None:
    assert AtTimestamp.ago(timedelta(days=1)).when.tzinfo is timezone.utc


def test_a_negative_duration_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 0"):
        AtTimestamp.ago(timedelta(seconds=-1))
    with pytest.raises(TypeError, match="duration must be timedelta, not 60"):
        AtTimestamp.ago(60)  # type: ignore[arg-type]
