"""Offsets: the same text as the connector writes."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis import CheckpointError
from spark_kinesis._offsets import (
    Progress,
    ShardOffset,
    SourceOffset,
    StreamOffset,
    decode,
    encode,
    is_kinesis,
    stream_name,
)

GOLDEN = Path(__file__).parents[3] / "tests" / "golden"
ARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
PARENTS = ("shardId-000000000001", "shardId-000000000002")

numbers = st.integers(0, 2**128)
times = st.none() | st.integers(1, 4_000_000_000_000).map(
    lambda millis: datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=millis)
)
rest = {
    "complete_as_of": times,
    "waits_for": st.sampled_from([(), PARENTS[:1], PARENTS]),
    "first": st.none() | numbers,
}
shards = st.one_of(
    st.builds(
        ShardOffset, progress=st.sampled_from([Progress.TRIM_HORIZON, Progress.FINISHED]), **rest
    ),
    st.builds(
        ShardOffset,
        progress=st.sampled_from([Progress.FROM, Progress.AFTER]),
        sequence_number=numbers,
        **rest,
    ),
    st.builds(
        ShardOffset, progress=st.just(Progress.AT), time=st.just("2026-01-02T03:04:05Z"), **rest
    ),
)
offsets = st.dictionaries(
    st.sampled_from([ARN, ARN + "-2"]),
    st.builds(
        StreamOffset,
        created=st.just("2026-01-02T03:04:05Z"),
        shards=st.dictionaries(st.integers(0, 20).map("shardId-{:012d}".format), shards),
    ),
).map(lambda streams: SourceOffset(streams=streams))


@given(offsets)
def test_an_offset_survives_the_way_to_text_and_back(offset: SourceOffset) -> None:
    assert decode(encode(offset), "a file") == offset


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("offset-v1-*.json")), ids=lambda it: it.stem)
def test_the_text_is_the_connectors(file: Path) -> None:
    text = file.read_text().strip()
    offset = decode(text, file.name)
    assert encode(offset) == text
    assert is_kinesis(text)
    assert all(stream_name(arn) == arn.split("/")[1] for arn in offset.streams)
    assert all(stream.shards for stream in offset.streams.values())


def test_progress_is_read() -> None:
    offset = decode((GOLDEN / "offset-v1-reshard.json").read_text(), "a file")
    found = offset.streams[ARN].shards
    assert found["shardId-000000000001"] == ShardOffset(
        progress=Progress.FINISHED,
        complete_as_of=datetime(2026, 1, 2, 8, 0, 0, 123000, tzinfo=timezone.utc),
    )
    assert found["shardId-000000000006"].time == "2026-01-02T03:04:05Z"
    assert found["shardId-000000000004"].waits_for == PARENTS


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("not JSON", "Expecting value"),
        ("[]", "list"),
        ('{"streams": {}}', "version"),
        ('{"version": 1, "streams": []}', "items"),
        ('{"version": 0, "streams": {}}', "its version is 0"),
        ('{"version": "odd", "streams": {}}', "odd"),
        ('{"version": 9, "streams": {}}', "Install the release of spark-kinesis that wrote it"),
        ('{"version": 1, "streams": {"a": {"shards": {}}}}', "created"),
        ('{"version": 1, "streams": {"a": {"created": "x", "shards": {"s": "odd"}}}}', "odd"),
        ('{"version": 1, "streams": {"a": {"created": "x", "shards": {"s": 7}}}}', "int"),
    ],
)
def test_other_texts_are_refused(text: str, reason: str) -> None:
    with pytest.raises(CheckpointError, match=reason) as error:
        decode(text, "checkpoint/offsets/7")
    assert str(error.value).startswith("checkpoint/offsets/7 has")


def test_offsets_of_other_sources_are_told_apart() -> None:
    assert not is_kinesis(json.dumps({"orders": {"0": 17}}))  # Kafka's
    assert not is_kinesis("17")
    assert not is_kinesis("-")
