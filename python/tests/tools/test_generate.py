"""The record generator: its records, its pace, its retries and its command line."""

from __future__ import annotations

import base64
import json
import math
import random
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis import GeneratorError
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.generating import (
    SHAPES,
    Events,
    Record,
    Written,
    at_rate,
    function_of,
    generate,
    put_records,
    recorded,
)

THROTTLED = "ProvisionedThroughputExceededException"
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


class World:
    """A clock that only sleeping and sending move, and a Kinesis with prepared answers."""

    def __init__(self, *script: Sequence[str | None], delay: float = 0.0) -> None:
        self.time = 100.0
        self.script = list(script)
        self.delay = delay
        self.sent: list[tuple[float, list[str]]] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.time += seconds

    def put_records(self, **request: Any) -> Any:
        records = request["Records"]
        self.sent.append((self.time, [it["Data"].decode() for it in records]))
        self.time += self.delay
        codes = self.script.pop(0) if self.script else [None] * len(records)
        return {"Records": [{"ShardId": "a"} if it is None else {"ErrorCode": it} for it in codes]}

    def write(self, records: Any, seconds: float = math.inf) -> Written:
        client: Any = self
        return generate(
            "orders", records, kinesis=client, seconds=seconds, now=self.now, sleep=self.sleep
        )

    def put(self, *texts: str, patience: float = 60.0) -> Written:
        client: Any = self
        records = [("k", it.encode()) for it in texts]
        return put_records(
            client, "orders", records, patience=patience, now=self.now, sleep=self.sleep
        )


def numbered(number: int, _chance: random.Random) -> Record:
    return f"key-{number}", str(number).encode()


def test_the_requested_number_is_written_at_the_rate() -> None:
    world = World()
    found = world.write(islice(at_rate(numbered, 100.0), 105))
    assert [text for _, batch in world.sent for text in batch] == [str(n) for n in range(105)]
    assert found == Written(records=105, bytes=10 + 2 * 90 + 3 * 5)
    assert world.sent[-1][0] - world.sent[0][0] == pytest.approx(1.0, abs=0.11)


def test_it_ends_in_time_even_if_the_next_record_is_due_later() -> None:
    world = World()
    world.write(at_rate(numbered, 0.01), seconds=3)
    assert len(world.sent) == 1
    assert world.time == pytest.approx(103)


@given(st.floats(1, 20_000), st.floats(0, 0.5))
def test_a_delay_is_caught_up_by_a_tenth_of_a_second_at_most(rate: float, delay: float) -> None:
    world = World(delay=delay)
    world.write(islice(at_rate(numbered, rate), 300))
    for first, (begun, _) in enumerate(world.sent):
        total = 0
        for ended, batch in world.sent[first:]:
            total += len(batch)
            # Records of a tenth of a second go into one request, and as many are caught up.
            assert total <= rate * (ended - begun + 0.2) + len(batch) + 1


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_keeps_the_rate_on_average(shape: str) -> None:
    times = [at for at, _ in islice(at_rate(numbered, 50.0, shape=shape, period=10.0), 5000)]
    assert times[-1] == pytest.approx(100, rel=0.02)
    by_second = Counter(int(it) for it in times if it < 90)
    highest = {"steady": 1.0, "burst": 5.0, "sine": 1.8}[shape]
    assert max(by_second.values()) == pytest.approx(50 * highest, rel=0.05)


def test_a_seed_makes_the_same_records() -> None:
    def made(seed: int) -> list[Any]:
        events = islice(at_rate(Events(keys=9, hot_share=0.2), 10, seed=seed), 30)
        return [(key, json.loads(data)["value"]) for _, (key, data) in events]

    assert made(7) == made(7)
    assert made(7) != made(8)


@given(st.integers(0, 2**32), st.floats(0.05, 1.0))
def test_a_hot_key_has_its_share(seed: int, share: float) -> None:
    events, chance, size = Events(keys=10, hot_share=share), random.Random(seed), 2000
    drawn = Counter(events(number, chance)[0] for number in range(size))
    assert set(drawn) <= {f"key-{number}" for number in range(10)}
    expected = share + (1 - share) / 10
    assert abs(drawn["key-0"] / size - expected) <= 7 * (0.25 / size) ** 0.5


def test_an_event_has_at_least_its_size() -> None:
    chance = random.Random(1)
    assert 1000 <= len(Events(size=1000)(0, chance)[1]) < 1050
    assert len(Events(size=10)(0, chance)[1]) < 150


def test_a_request_respects_the_limits_of_kinesis() -> None:
    world = World()
    world.write(islice(at_rate(lambda n, _: (f"k{n}", b"x" * 1_000_000), 1000.0), 12))
    assert max(sum(map(len, batch)) for _, batch in world.sent) <= 5 * 1024 * 1024
    world = World()
    world.write(islice(at_rate(numbered, 100_000.0), 1200))
    assert [len(batch) for _, batch in world.sent] == [500, 500, 200]


def test_only_refused_records_are_sent_again() -> None:
    world = World([None, THROTTLED, "InternalFailure"], [], [None, THROTTLED])
    found = world.put("a", "b", "c")
    assert [batch for _, batch in world.sent] == [["a", "b", "c"], ["b", "c"], ["b", "c"], ["c"]]
    assert found == Written(records=3, bytes=3, throttled=2, resent=5)


def test_a_record_refused_for_too_long_is_an_error() -> None:
    world = World(*[[THROTTLED] for _ in range(1000)])
    with pytest.raises(GeneratorError, match=r"stream orders: 1 records .* 10 s\. .*Throughput"):
        world.put("a", patience=10.0)
    assert 110 <= world.time <= 111


def test_the_time_of_the_calls_counts() -> None:
    world = World(*[[THROTTLED] for _ in range(1000)], delay=20.0)
    with pytest.raises(GeneratorError, match=r"not written within 30 s"):
        world.put("a", patience=30.0)
    assert world.time <= 100 + 30 + 20


def row(at: float, key: str | None, data: bytes, shard: str = "s") -> str:
    return json.dumps(
        {
            "arrived": (NOW + timedelta(seconds=at)).isoformat(),
            "shard": shard,
            "sequenceNumber": "77",
            "partitionKey": key,
            "data": base64.b64encode(data).decode(),
        }
    )


def test_a_recording_keeps_its_times_and_its_order(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    rows = [row(0, "a", b"1"), row(9, "b", b"3", "t"), row(4, "a", b"2"), row(2, None, b"later")]
    file.write_text("\n".join(rows), encoding="utf-8")
    assert list(recorded(str(file), speed=2.0)) == [
        (0.0, ("a", b"1")),
        (2.0, ("a", b"2")),
        (2.0, ("77", b"later")),  # arrived earlier than the record before it
        (4.5, ("b", b"3")),
    ]


@pytest.mark.parametrize("text", ["{}", "no JSON", '{"arrived": 1}', "7"])
def test_another_file_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(f"{row(0, 'a', b'1')}\n{text}\n", encoding="utf-8")
    with pytest.raises(GeneratorError, match=r"line 2 of .*rows\.jsonl is not a row of"):
        recorded(str(file))


def function(tmp_path: Path, body: str) -> str:
    file = tmp_path / "mine.py"
    file.write_text(f"def made(number, chance):\n    {body}\n", encoding="utf-8")
    return f"{file}:made"


@pytest.mark.parametrize(
    ("body", "data"),
    [
        ("return 'k', b'x'", b"x"),
        ("return 'k', 'é'", "é".encode()),
        ("return 'k', {'n': number}", b'{"n": 0}'),
    ],
)
def test_a_function_of_a_file_makes_records(body: str, data: bytes, tmp_path: Path) -> None:
    made = at_rate(function_of(function(tmp_path, body)), 1.0)
    assert next(made) == (0.0, ("k", data))


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("return 1 / 0", r"made has not made record 0, .*ZeroDivisionError"),
        ("raise SystemExit(0)", r"made has not made record 0, .*SystemExit"),
        ("return 7", "made has not made record 0, a pair of partition key and data"),
        ("return '', b'x'", "made: the key of record 0 must be a text, not ''"),
    ],
)
def test_a_function_that_fails_is_named(body: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(GeneratorError, match=complaint):
        next(at_rate(function_of(function(tmp_path, body)), 1.0))


@pytest.mark.parametrize(
    "place", ["nowhere.py:made", "no_such_module:made", "json:made", "made", "json:__name__"]
)
def test_a_missing_function_is_named(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["generate", "--stream", "orders", "--records", place]) == 2
    assert f"--records {place} " in capsys.readouterr().err


@pytest.mark.parametrize(
    "wrong",
    [
        ["--rate", "0"],
        ["--count", "-1"],
        ["--duration", "5"],
        ["--hot-share", "1.5"],
        ["--keys", "0"],
        ["--shape", "square"],
        ["--speed", "2"],
        ["--replay", "rows.jsonl", "--rate", "10"],
    ],
)
def test_a_wrong_command_line_is_explained(
    wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["generate", "--stream", "orders", *wrong]) == 2
    assert "Error: " in capsys.readouterr().err


def test_a_missing_file_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["generate", "--stream", "orders", "--replay", "nowhere.jsonl"]) == 2
    assert "nowhere.jsonl" in capsys.readouterr().err
