"""The record generator: its records, its pace, its retries and its command line."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis import GeneratorError
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.generating import (
    Record,
    Written,
    event,
    function_of,
    generate,
    made,
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
        self.delays: list[float] = []  # of the first calls
        self.sent: list[tuple[float, list[str]]] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.time += seconds

    def put_records(self, **request: Any) -> Any:
        records = request["Records"]
        self.sent.append((self.time, [it["Data"].decode() for it in records]))
        self.time += self.delays.pop(0) if self.delays else self.delay
        codes = self.script.pop(0) if self.script else [None] * len(records)
        return {"Records": [{"ShardId": "a"} if it is None else {"ErrorCode": it} for it in codes]}

    def write(self, records: Any, rate: float, seconds: float = math.inf) -> Written:
        client: Any = self
        return generate(
            "orders",
            records,
            kinesis=client,
            rate=rate,
            seconds=seconds,
            now=self.now,
            sleep=self.sleep,
        )

    def put(self, *texts: str) -> Written:
        return self.write([("k", it.encode()) for it in texts], 1000.0)


def numbered(count: int) -> list[Record]:
    return [(f"key-{number}", str(number).encode()) for number in range(count)]


def test_the_requested_number_is_written_at_the_rate() -> None:
    world = World()
    found = world.write(numbered(105), 100.0)
    assert [text for _, batch in world.sent for text in batch] == [str(n) for n in range(105)]
    assert found == Written(records=105, bytes=10 + 2 * 90 + 3 * 5)
    assert world.sent[-1][0] - world.sent[0][0] == pytest.approx(1.0, abs=0.11)


def test_it_ends_in_time_even_if_the_next_record_is_due_later() -> None:
    world = World()
    world.write(numbered(9), 0.01, seconds=3)
    assert len(world.sent) == 1
    assert world.time == pytest.approx(103)


@given(st.floats(1, 20_000), st.floats(0, 0.5))
def test_a_delay_is_caught_up_by_a_tenth_of_a_second_at_most(rate: float, delay: float) -> None:
    world = World(delay=delay)
    world.write(numbered(300), rate)
    for first, (begun, _) in enumerate(world.sent):
        total = 0
        for ended, batch in world.sent[first:]:
            total += len(batch)
            # Records of a tenth of a second go into one request, and as many are caught up.
            assert total <= rate * (ended - begun + 0.2) + len(batch) + 1


def test_after_a_long_call_the_rate_is_the_same() -> None:
    world = World()
    world.delays = [5.0]
    world.write(numbered(300), 100.0)
    (begun, first), *rest = world.sent
    soon = sum(len(batch) for at, batch in rest if at < begun + 6.0)
    assert len(first) + soon == pytest.approx(11 + 110, abs=11)  # a second, and what is caught up


def test_an_event_is_json_with_a_key() -> None:
    key, found = event(7)
    assert (found["id"], found["key"]) == (7, key)
    assert re.fullmatch(r"key-\d{1,3}", key)


def test_a_request_respects_the_limits_of_kinesis() -> None:
    world = World()
    world.write([(f"k{n}", b"x" * 1_000_000) for n in range(12)], 1000.0)
    assert max(sum(map(len, batch)) for _, batch in world.sent) <= 5 * 1024 * 1024
    world = World()
    world.write(numbered(1200), 100_000.0)
    assert [len(batch) for _, batch in world.sent] == [500, 500, 200]


def test_only_refused_records_are_sent_again() -> None:
    world = World([None, THROTTLED, "InternalFailure"], [], [None, THROTTLED])
    found = world.put("a", "b", "c")
    assert [batch for _, batch in world.sent] == [["a", "b", "c"], ["b", "c"], ["b", "c"], ["c"]]
    assert found == Written(records=3, bytes=3, resent=5)


def test_a_record_refused_for_too_long_is_an_error() -> None:
    world = World(*[[THROTTLED] for _ in range(1000)], delay=20.0)
    with pytest.raises(GeneratorError, match=r"stream orders: 1 records .* 60 s\. .*Throughput"):
        world.put("a")
    assert 160 <= world.time <= 181


def row(at: float, key: str | None, data: bytes, shard: str = "s") -> str:
    return json.dumps(
        {
            "arrived": (NOW + timedelta(seconds=at)).isoformat(),
            "shard": shard,
            "sequence": "77",
            "key": key,
            "data": base64.b64encode(data).decode(),
        }
    )


def test_a_recording_keeps_its_order(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    rows = [row(0, "a", b"1"), row(9, "b", b"3", "t"), row(4, "a", b"2"), row(2, None, b"4")]
    file.write_text("\n".join(rows), encoding="utf-8")
    expected = [("a", b"1"), ("b", b"3"), ("a", b"2"), ("77", b"4")]
    assert list(recorded(str(file))) == expected


@pytest.mark.parametrize("text", ["{}", "no JSON", '{"data": 1}', "7"])
def test_another_file_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(f"{row(0, 'a', b'1')}\n{text}\n", encoding="utf-8")
    with pytest.raises(GeneratorError, match=r"line 2 of .*rows\.jsonl is not a row of"):
        list(recorded(str(file)))


def function(tmp_path: Path, body: str) -> str:
    file = tmp_path / "mine.py"
    file.write_text(f"def order(number):\n    {body}\n", encoding="utf-8")
    return f"{file}:order"


@pytest.mark.parametrize(
    ("body", "data"),
    [
        ("return 'k', b'x'", b"x"),
        ("return 'k', 'é'", "é".encode()),
        ("return 'k', {'n': number}", b'{"n": 0}'),
    ],
)
def test_a_function_of_a_file_makes_records(body: str, data: bytes, tmp_path: Path) -> None:
    assert next(made(function_of(function(tmp_path, body)))) == ("k", data)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("return 1 / 0", r"order has not made record 0, .*ZeroDivisionError"),
        ("raise SystemExit(0)", r"order has not made record 0, .*SystemExit"),
        ("return 7", "order has not made record 0, a pair of partition key and data"),
        ("return '', b'x'", "order: the key of record 0 must be a text, not ''"),
    ],
)
def test_a_function_that_fails_is_named(body: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(GeneratorError, match=complaint):
        next(made(function_of(function(tmp_path, body))))


@pytest.mark.parametrize(
    "place", ["nowhere.py:made", "no_such_module:made", "json:made", "made", "json:__name__"]
)
def test_a_missing_function_is_named(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["generate", "--stream", "orders", "--records", place]) == 2
    assert f"--records {place} " in capsys.readouterr().err


def test_a_file_that_ends_the_program_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "f.py"
    file.write_text("raise SystemExit(0)")
    assert run(["generate", "--stream", "orders", "--records", f"{file}:f"]) == 2
    assert "names no function: SystemExit(0)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "wrong",
    [
        ["--rate", "0"],
        ["--count", "-1"],
        ["--duration", "5"],
        ["--replay", "rows.jsonl", "--records", "json:dumps"],
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
