"""`spark-kinesis tail`, on streams of the local Kinesis."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from aws_kinesis_agg.aggregator import RecordAggregator
from botocore.exceptions import ClientError

from spark_kinesis import SparkKinesisError
from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis.local import LocalEndpoint, LocalKinesis
from spark_kinesis.tools import tailing
from spark_kinesis.tools.changes import LATEST
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.facts.streams import describe
from spark_kinesis.tools.tailing import pages_of
from tests.simulator.calls import client_of

SHARD = "shardId-000000000000"
TRIM_HORIZON = ShardOffset(progress=Progress.TRIM_HORIZON)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without quotas there is nothing to wait for."""
    monkeypatch.setattr(tailing, "SHARE", 1e6)


class Clock:
    """A clock that sleeping moves."""

    def __init__(self) -> None:
        self.time = 0.0
        self.pauses: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.time += seconds
        self.pauses.append(seconds)


def reading(
    client: Any, stream: str, start: ShardOffset, clock: Clock | None = None
) -> Iterator[tuple[str, Sequence[Any]]]:
    clock = clock or Clock()
    arn = describe(client, stream).arn
    return pages_of(client, arn, start, [SHARD], now=lambda: clock.time, sleep=clock.sleep)


def number_of(row: dict[str, Any]) -> int:
    return int(base64.b64decode(row["data"]))


def test_records_are_shown_in_order_through_a_split_and_a_merge(
    make_stream: Callable[[int], str], endpoint: str, capsys: Any
) -> None:
    name = make_stream(1)
    local = LocalEndpoint(endpoint)
    for step in range(3):
        keys = [f"key-{number % 5}" for number in range(50)]
        local.put(name, [(key, f"{step * 50 + at}") for at, key in enumerate(keys)])
        if step == 0:
            local.split(name)
        elif step == 1:
            local.merge(name)
    words = ["tail", "--stream", name, "--endpoint", endpoint, "--from", "trim_horizon"]
    assert run([*words, "--no-follow", "--json"]) == 0
    rows = [json.loads(it) for it in capsys.readouterr().out.splitlines()]
    assert sorted(map(number_of, rows)) == list(range(150))
    assert len({it["shard"] for it in rows}) == 4
    for key in range(5):
        mine = [number_of(it) for it in rows if it["key"] == f"key-{key}"]
        assert mine == sorted(mine)


def test_lines_and_their_number(
    kinesis: Any, make_stream: Callable[[int], str], endpoint: str, capsys: Any
) -> None:
    name = make_stream(2)
    library = RecordAggregator()
    for number in range(3):
        library.add_user_record("ann", f"row {number}".encode())
    key, _, data = library.clear_and_get().get_contents()
    kinesis.put_record(StreamName=name, PartitionKey=key, Data=data)
    kinesis.put_record(StreamName=name, PartitionKey="ann", Data=b"plain")
    words = ["tail", "--stream", name, "--endpoint", endpoint, "--from", "1h", "--no-follow"]
    assert run(words) == 0
    out, err = capsys.readouterr()
    assert [it.partition("B  ")[2].split(maxsplit=1)[1] for it in out.splitlines()] == [
        *("row 0", "row 1", "row 2", "plain")
    ]
    assert err.split() == ["AGE", "SHARD", "SIZE", "KEY", "DATA"]
    assert run([*words, "--count", "2"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_the_latest_begins_with_the_next_record(
    kinesis: Any, make_stream: Callable[[int], str]
) -> None:
    name = make_stream(1)
    kinesis.put_record(StreamName=name, PartitionKey="k", Data=b"before")
    pages = reading(kinesis, name, LATEST)
    assert next(pages)[1] == []
    kinesis.put_record(StreamName=name, PartitionKey="k", Data=b"after")
    found = next(records for _, records in pages if records)
    assert [it["Data"] for it in found] == [b"after"]


def test_the_latest_includes_all_records_of_new_shards(
    make_stream: Callable[[int], str], endpoint: str
) -> None:
    name, local = make_stream(1), LocalEndpoint(endpoint)
    pages = reading(client_of(endpoint), name, LATEST)
    assert next(pages)[1] == []
    local.split(name)
    local.put(name, [(f"key-{number}", str(number)) for number in range(20)])
    found: list[bytes] = []
    for _, records in islice(pages, 200):
        found += [it["Data"] for it in records]
        if len(found) == 20:
            break
    assert sorted(found) == sorted(b"%d" % number for number in range(20))


def test_reading_stays_below_a_fifth_of_the_quota(
    kinesis: Any, make_stream: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tailing, "SHARE", 1 / 5)
    name = make_stream(1)
    for _ in range(4):
        kinesis.put_record(StreamName=name, PartitionKey="k", Data=b"x" * 1_000_000)
    clock = Clock()
    pages = reading(kinesis, name, TRIM_HORIZON, clock)
    for _ in range(3):
        next(pages)
    # One page has all 4 MB: they take ten seconds. Then a call per second.
    assert clock.pauses == [pytest.approx(4_000_000 / (2 * 1024 * 1024 / 5)), 1.0]


def test_an_expired_iterator_is_renewed_after_the_last_record() -> None:
    with LocalKinesis(streams={"orders": 1}) as local:
        client = client_of(local.endpoint)
        local.put("orders", ["one"])
        pages = reading(client, "orders", TRIM_HORIZON)
        assert [it["Data"] for it in next(pages)[1]] == [b"one"]
        local.put("orders", ["two"])
        with local.fault("expired-iterator", operation="GetRecords", times=1) as fault:
            assert [it["Data"] for it in next(pages)[1]] == [b"two"]
            assert fault.struck == 1


def test_an_iterator_that_expires_before_the_first_record_is_an_error() -> None:
    with LocalKinesis(streams={"orders": 1}) as local:
        pages = reading(client_of(local.endpoint), "orders", LATEST)
        assert next(pages)[1] == []
        with (
            local.fault("expired-iterator", operation="GetRecords", times=1),
            pytest.raises(ClientError, match="ExpiredIterator"),
        ):
            next(pages)


def test_a_shard_that_refuses_all_reads_is_an_error() -> None:
    with LocalKinesis(streams={"orders": 1}) as local:
        client = client_of(local.endpoint, retries=False)
        pages = reading(client, "orders", TRIM_HORIZON)
        with (
            local.fault("throttle", operation="GetRecords"),
            pytest.raises(SparkKinesisError, match=f"{SHARD} .* refused all reads"),
        ):
            next(pages)


def test_a_shard_that_refuses_some_reads_is_read_again(capsys: Any) -> None:
    with LocalKinesis(streams={"orders": 1}) as local:
        local.put("orders", ["one"])
        with local.fault("throttle", operation="GetRecords", times=2) as fault:
            words = ["tail", "--stream", "orders", "--endpoint", local.endpoint]
            assert run([*words, "--from", "trim_horizon", "--no-follow"]) == 0
            assert fault.struck == 2
    assert capsys.readouterr().out.endswith("one\n")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--stream", "nothing"], "nothing"),
        (["--stream", "given", "--shard", "77"], "stream given has no shard '77'"),
        (["--stream", "given", "--from", "never"], "is not trim_horizon, latest, or a time"),
    ],
)
def test_wrong_options_are_named(
    words: list[str], complaint: str, endpoint: str, capsys: Any
) -> None:
    assert run(["tail", *words, "--endpoint", endpoint]) == 2
    assert complaint in capsys.readouterr().err


def test_what_was_shown_as_json_is_written_again(
    kinesis: Any, make_stream: Callable[[int], str], endpoint: str, tmp_path: Path, capsys: Any
) -> None:
    name, copy = make_stream(2), make_stream(1)
    entries = [{"PartitionKey": f"key-{at % 5}", "Data": b"%d" % at} for at in range(40)]
    kinesis.put_records(StreamName=name, Records=entries)
    place = ["--endpoint", endpoint]
    shown = ["tail", *place, "--from", "trim_horizon", "--no-follow", "--json"]
    assert run([*shown, "--stream", name]) == 0
    file = tmp_path / "rows.jsonl"
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    assert run(["generate", "--stream", copy, *place, "--replay", str(file)]) == 0
    assert "40 records written" in capsys.readouterr().out
    records = LocalEndpoint(endpoint).records(copy)
    found = [(it.partition_key, it.text) for it in records]
    assert sorted(found) == sorted((f"key-{at % 5}", str(at)) for at in range(40))
    for key in range(5):
        assert [int(text) for name, text in found if name == f"key-{key}"] == list(
            range(key, 40, 5)
        )
