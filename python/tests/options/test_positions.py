"""Positions: values that compare, cannot change, and become options."""

from __future__ import annotations

import copy
import json
import pickle
import re
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis import (
    AfterSequenceNumber,
    AtSequenceNumber,
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
def test_equal_values_are_equal(make: Callable[[], object]) -> None:
    assert make() == make()


def test_other_positions_are_not_equal() -> None:
    one = ByShard({"shardId-1": Latest()}, others=Latest())
    assert one != ByShard({"shardId-1": TrimHorizon()}, others=Latest())
    assert one != ByShard({"shardId-2": Latest()}, others=Latest())


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


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("LATEST", Latest()),
        ("TRIM_HORIZON", TrimHorizon()),
        ("earliest", TrimHorizon()),
        ("2026-01-02T12:00:00Z", AtTimestamp(NOON)),
        ("2026-01-02 13:00+01:00", AtTimestamp(NOON)),
        (NOON, AtTimestamp(NOON)),
    ],
)
def test_other_words_and_times_are_positions(given: Any, expected: Any) -> None:
    source = KinesisSource(stream_name="s", starting_position=given, ending_position=given)
    assert source.starting_position == source.ending_position == expected
    assert ByShard({"shardId-1": given}, others=given) == ByShard(
        {"shardId-1": expected}, others=expected
    )
    assert ByStream({"s": given}) == ByStream({"s": expected})


@pytest.mark.parametrize("word", ["trim-horizon", "10m", "20260"])
def test_another_text_names_what_is_accepted(word: str) -> None:
    for make in (
        lambda: KinesisSource(stream_name="s", starting_position=word),
        lambda: ByShard({"shardId-1": word}, others=Latest()),
        lambda: ByShard({}, others=word),
        lambda: ByStream({"s": word}),
    ):
        with pytest.raises(
            ValueError,
            match=f"'latest', 'trim_horizon' or 'earliest', or a time such as .*, not '{word}'",
        ):
            make()


@pytest.mark.parametrize("given", ["2026-01-02T12:00:00", "2026-01-02", NOON.replace(tzinfo=None)])
def test_a_time_needs_a_zone(given: Any) -> None:
    said = r"the time datetime.datetime\(2026, 1, 2, .*has no time zone. Write "
    with pytest.raises(ValueError, match=said):
        KinesisSource(stream_name="s", starting_position=given)
    with pytest.raises(ValueError, match=said):
        ByShard({"shardId-1": given}, others=Latest())


def test_ago_is_relative_to_the_time_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_kinesis._options.positions.utc_now", lambda: NOON)
    assert AtTimestamp.ago(timedelta(hours=1)) == AtTimestamp(NOON - timedelta(hours=1))
    assert AtTimestamp.ago(timedelta(0)).when == NOON


def test_the_clock_of_ago_has_a_zone() -> None:
    assert AtTimestamp.ago(timedelta(days=1)).when.tzinfo is timezone.utc


@pytest.mark.parametrize(
    ("position", "expected"), [(Latest(), "latest"), (TrimHorizon(), "trim_horizon")]
)
def test_positions(position: Latest | TrimHorizon, expected: str) -> None:
    source = KinesisSource(stream_name="s", starting_position=position)
    assert source.options()["startingPosition"] == expected


def test_positions_by_shard_of_the_one_stream() -> None:
    position = ByShard(
        {"shardId-1": AfterSequenceNumber("49"), "shardId-2": AtSequenceNumber("50")},
        others=TrimHorizon(),
    )
    source = KinesisSource(stream_name="orders", starting_position=position)
    assert json.loads(source.options()["startingPosition"]) == {
        "orders": {"shardId-1": {"after": "49"}, "shardId-2": {"at": "50"}, "*": "trim_horizon"}
    }


def test_positions_by_stream() -> None:
    shards = ByShard({"shardId-1": AtSequenceNumber("50")}, others=Latest())
    source = KinesisSource(
        stream_name=["orders", "refunds"],
        ending_position=ByStream({"orders": Latest(), "refunds": shards}),
    )
    assert source.options()["streamName"] == "orders,refunds"
    assert json.loads(source.options()["endingPosition"]) == {
        "orders": "latest",
        "refunds": {"shardId-1": {"at": "50"}, "*": "latest"},
    }


def test_positions_by_shard_of_several_streams_are_refused() -> None:
    with pytest.raises(ValueError, match=r"starting_position .* reads 2 streams: use ByStream"):
        KinesisSource(stream_name=["a", "b"], starting_position=ByShard({}, others=Latest()))


@pytest.mark.parametrize(
    "make",
    [
        lambda: ByShard({}, others=AtSequenceNumber("1")),  # type: ignore[arg-type]
        lambda: ByStream({"s": AtSequenceNumber("1")}),  # type: ignore[dict-item]
    ],
)
def test_other_positions_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match="must be"):
        make()


def test_a_star_is_refused_as_a_shard() -> None:
    with pytest.raises(ValueError, match="set others instead"):
        ByShard({"*": TrimHorizon()}, others=Latest())


def test_positions_cannot_change() -> None:
    shards = {"shardId-1": Latest()}
    position = ByShard(shards, others=Latest())
    shards.clear()
    assert position.shards == {"shardId-1": Latest()}


@given(
    st.datetimes(datetime(1970, 1, 2), datetime(9000, 1, 1)),  # noqa: DTZ001 zone added below
    st.integers(-14 * 60, 14 * 60),
)
def test_an_instant_is_the_same_moment_in_utc(naive: datetime, offset: int) -> None:
    when = naive.replace(tzinfo=timezone(timedelta(minutes=offset)))
    written = KinesisSource(starting_position=when).options()["startingPosition"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z", written)
    assert datetime.fromisoformat(written.replace("Z", "+00:00")) == when
