"""Keys of the table: unique, in order of time, and readable."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from log_processing.events.event import KinesisIdentity
from log_processing.table import keys

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
times = st.datetimes(timezones=st.just(timezone.utc)).map(
    lambda time: (time - EPOCH) // timedelta(microseconds=1)
)
names = st.text("abcXYZ019_.-", min_size=1, max_size=20)
numbers = st.integers(0, 10**56).map(str)
identities = st.builds(
    KinesisIdentity,
    stream=names,
    shard_id=st.integers(0, 10**12 - 1).map(lambda n: f"shardId-{n:012d}"),
    sequence_number=numbers,
    sub_sequence_number=st.integers(0, 2**63 - 1),
    event=st.integers(0, 10**6),
    arrival_ms=st.just(0),
)


@given(times)
def test_a_time_has_27_characters_and_can_be_read_back(time_us: int) -> None:
    text = keys.time_text(time_us)
    assert len(text) == 27
    read = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    assert (read - EPOCH) // timedelta(microseconds=1) == time_us
    assert text.startswith(keys.hour_text(time_us))


@given(times, identities, times, identities)
def test_sort_keys_are_unique_and_in_order_of_time(
    time_a: int, a: KinesisIdentity, time_b: int, b: KinesisIdentity
) -> None:
    first, second = keys.sort_key(time_a, a), keys.sort_key(time_b, b)
    assert (first == second) == (time_a == time_b and a == b)
    if time_a != time_b:
        assert (first < second) == (time_a < time_b)
    assert len(first.encode()) <= 1024


@given(st.text(min_size=1), st.text(min_size=1), times, st.integers(0, 15))
def test_services_do_not_share_a_partition(a: str, b: str, time_us: int, bucket: int) -> None:
    hour = keys.hour_text(time_us)
    first, second = (keys.partition_key(service, hour, bucket) for service in (a, b))
    assert (first == second) == (a == b)
    assert first.count("#") == 2
    assert unquote(first.split("#")[0]) == a
    assert not first.startswith(keys.PROGRESS_PREFIX)


@given(identities, times)
def test_the_bucket_follows_from_the_sort_key(identity: KinesisIdentity, time_us: int) -> None:
    partition, sort = keys.event_keys("checkout", time_us, identity)
    assert 0 <= keys.bucket(sort) < keys.BUCKETS
    assert partition == f"checkout#{keys.hour_text(time_us)}#b{keys.bucket(sort)}"


def test_a_key_looks_like_this() -> None:
    identity = KinesisIdentity("logs", "shardId-000000000001", "495", 2, 3, 0)
    time_us = (datetime(2026, 11, 23, 7, 15, 9, 123456, timezone.utc) - EPOCH) // timedelta(
        microseconds=1
    )
    partition, sort = keys.event_keys("a#b", time_us, identity)
    assert partition == f"a%23b#2026-11-23T07#b{keys.bucket(sort)}"
    assert sort == "2026-11-23T07:15:09.123456Z#logs#shardId-000000000001#495#2#3"


def test_busy_services_use_all_buckets() -> None:
    identities = (KinesisIdentity("logs", "shardId-0", str(n), 0, 0, 0) for n in range(16_000))
    counts = [0] * keys.BUCKETS
    for identity in identities:
        counts[keys.bucket(keys.sort_key(0, identity))] += 1
    assert min(counts) > 800
    assert max(counts) < 1200


def test_progress_is_in_order_of_time_whatever_query_and_batch() -> None:
    key = ("#progress#logs", "1970-01-01T00:00:00.999000Z#b#10")
    assert keys.progress_keys("logs", 999, "b", 10) == key
    assert keys.progress_keys("logs", 1000, "a", 9) > key
    assert keys.progress_from("logs", 999) < key < keys.progress_from("logs", 1000)
