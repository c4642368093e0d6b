"""Wrong names, words and types: the error names the field."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis import (
    AtSequenceNumber,
    KinesisSink,
    KinesisSource,
)


def test_several_streams_cannot_change() -> None:
    names = ["a", "b"]
    source = KinesisSource(stream_name=names)
    names.append("c")
    assert source.stream_name == ("a", "b")
    assert KinesisSource(stream_arn=("x", "y")).options() == {"streamArn": "x,y"}


@pytest.mark.parametrize("streams", [[], ["a", ""], "a,b", "", " "])
def test_a_source_passes_a_wrong_name_of_a_stream_on(streams: list[str] | str) -> None:
    passed_on = streams if isinstance(streams, str) else ",".join(streams)
    assert KinesisSource(stream_name=streams).options() == {"streamName": passed_on}
    assert KinesisSource(stream_arn=streams).options() == {"streamArn": passed_on}


@pytest.mark.parametrize("field", ["stream_name", "stream_arn"])
def test_a_comma_does_not_make_two_streams_of_one_entry(field: str) -> None:
    given: dict[str, Any] = {field: ["orders", "a,b"]}
    with pytest.raises(ValueError, match=f"{field} has the entry 'a,b' with a comma"):
        KinesisSource(**given)


def test_a_list_of_streams_is_refused_for_a_sink() -> None:
    with pytest.raises(TypeError, match="stream_name"):
        KinesisSink(stream_name=["a", "b"])  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [KinesisSource, KinesisSink])
def test_a_name_and_an_arn_are_passed_on(kind: Any) -> None:
    both = kind(stream_name="s", stream_arn="a")
    assert both.options() == {"streamName": "s", "streamArn": "a"}
    assert kind().options() == {}


def test_a_whole_number_may_be_one_of_numpy() -> None:
    five: Any = np.int64(5)
    source = KinesisSource(stream_name="s", max_records_per_trigger=five)
    assert source == KinesisSource(stream_name="s", max_records_per_trigger=5)
    assert repr(source) == "KinesisSource(stream_name='s', max_records_per_trigger=5)"
    refused: list[Any] = [np.float64(5), np.array([3])]
    for value in refused:
        with pytest.raises(TypeError, match="max_records_per_trigger must be int or None"):
            KinesisSource(stream_name="s", max_records_per_trigger=value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("linger", 100),
        ("aggregation", True),
        ("max_aggregate_bytes", "50k"),
        ("max_aggregate_records", 1.5),
        ("ordering", 1),
        ("order_by", ["seq"]),
        ("dead_letter_path", 1),
    ],
)
def test_a_sinks_wrong_type_names_its_field(field: str, value: Any) -> None:
    with pytest.raises(TypeError, match=field):
        KinesisSink(**{"stream_name": "s", field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("region", 1),
        ("stream_name", 1),
        ("starting_position", timedelta(hours=1)),
        ("ending_position", AtSequenceNumber("1")),
        ("max_records_per_trigger", "10"),
        ("max_records_per_trigger", True),
        ("fail_on_data_loss", "false"),
        ("deaggregate", 0),
        ("min_fetch_period", 200),
        ("credentials", "key:secret"),
        ("consumer", "reports"),
        ("role", "arn:aws:iam::123456789012:role/r"),
    ],
)
def test_a_wrong_type_names_its_field(field: str, value: Any) -> None:
    with pytest.raises(TypeError, match=field):
        KinesisSource(**{"stream_name": "s", field: value})


def test_fields_cannot_change() -> None:
    source = KinesisSource(stream_name="s")
    with pytest.raises(dataclasses.FrozenInstanceError):
        source.stream_name = "t"  # type: ignore[misc]


@given(st.integers(0, 10**9), st.integers(1, 999))
def test_a_finer_duration_is_refused(milliseconds: int, microseconds: int) -> None:
    period = timedelta(milliseconds=milliseconds, microseconds=microseconds)
    source = KinesisSource(stream_name="s", min_fetch_period=period)
    with pytest.raises(ValueError, match="min_fetch_period must be a whole number of milliseconds"):
        source.options()
