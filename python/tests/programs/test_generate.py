"""The record generator: its loop, retries, progress and command line."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis import GeneratorError, MissingPackageError
from spark_kinesis.generate import __main__ as command
from spark_kinesis.generate.keys import Keys
from spark_kinesis.generate.pace import Pace
from spark_kinesis.generate.progress import Goal, Lines, Quiet, sentence
from spark_kinesis.generate.template import parse
from spark_kinesis.generate.work import REQUEST_BYTES, Times, Work, make, run
from spark_kinesis.generate.writer import THROTTLED, RequestFailedError, Tally, Writer

NOW = datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=timezone.utc)


class World:
    """A clock that only sleeping and sending move, and a Kinesis with prepared answers."""

    def __init__(self, *script: Sequence[str | None] | Exception, delay: float = 0.0) -> None:
        self.now = 100.0
        self.script = list(script)
        self.delay = delay
        self.sent: list[tuple[float, list[str]]] = []

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.now += seconds

    def send(self, request: list[dict[str, Any]]) -> Sequence[str | None]:
        self.sent.append((self.now, [entry["Data"].decode() for entry in request]))
        self.now += self.delay
        answer = self.script.pop(0) if self.script else [None] * len(request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def writer(self, patience: float = 60.0) -> Writer:
        return Writer(
            stream="orders",
            send=self.send,
            patience=patience,
            now=lambda: self.now,
            sleep=self.sleep,
        )

    def times(self) -> Times:
        return Times(now=lambda: self.now, sleep=self.sleep, date=lambda: NOW)


def work(template: str = "{{counter}}", rate: float = 100.0, **goal: Any) -> Work:
    return Work(
        template=parse(template),
        keys=Keys(count=5),
        pace=Pace(rate=rate),
        goal=Goal(**goal),
        seed=1,
    )


def test_the_requested_number_is_written_at_the_rate() -> None:
    world = World()
    writer = world.writer()
    run(work(rate=100.0, count=105), writer, world.times(), Quiet())
    assert [text for _, batch in world.sent for text in batch] == [str(n) for n in range(105)]
    assert writer.tally == Tally(written=105, bytes=10 + 2 * 90 + 3 * 5)
    assert world.sent[-1][0] - world.sent[0][0] == pytest.approx(1.0)


def test_it_ends_in_time_even_if_the_next_record_is_due_later() -> None:
    world = World()
    elapsed = run(work(rate=0.01, seconds=3), world.writer(), world.times(), Quiet())
    assert len(world.sent) == 1
    assert 3 <= elapsed <= 3.5


def test_a_seed_makes_the_same_records() -> None:
    def written() -> list[tuple[float, list[str]]]:
        world = World()
        text = work("{{uuid}} {{random 1 1000}} {{key}}", count=30)
        run(text, world.writer(), world.times(), Quiet())
        return world.sent

    assert written() == written()


def test_a_request_respects_its_limit_of_bytes() -> None:
    big = work("{{text 1000000}}", rate=5000)
    sizes, first, chance = [], 0, random.Random(1)
    while first < 12:
        entries = make(big, first, 12 - first, NOW, chance)
        sizes.append(sum(len(key) + len(data) for key, data in entries))
        first += len(entries)
    assert len(sizes) > 1
    assert max(sizes) <= REQUEST_BYTES


def entries(*texts: str) -> list[tuple[str, bytes]]:
    return [("k", text.encode()) for text in texts]


def test_only_refused_records_are_sent_again() -> None:
    world = World(
        [None, THROTTLED, "InternalFailure"], RequestFailedError("HTTP 500"), [None, THROTTLED]
    )
    writer = world.writer()
    writer.write(entries("a", "b", "c"))
    assert [batch for _, batch in world.sent] == [["a", "b", "c"], ["b", "c"], ["b", "c"], ["c"]]
    assert writer.tally == Tally(written=3, throttled=2, retried=5, bytes=3)


def test_a_record_refused_for_too_long_is_an_error() -> None:
    world = World(*([[THROTTLED]] * 1000), delay=1.0)
    writer = world.writer(patience=10.0)
    with pytest.raises(GeneratorError, match=r"stream orders: 1 records .* 10 s\. .*Throughput"):
        writer.write(entries("a"))
    assert 110 <= world.now <= 112
    assert writer.tally.written == 0


@given(st.integers(0, 100), st.floats(0, 100))
def test_a_goal_is_done_when_nothing_is_left(written: int, elapsed: float) -> None:
    for goal in (Goal(count=50), Goal(seconds=50), Goal(count=50, seconds=50)):
        assert (goal.left(written, elapsed) == 0) == (goal.done(written, elapsed) == 1.0)
    assert Goal().left(written, elapsed) is None
    assert Goal().done(written, elapsed) is None


def test_plain_progress_is_a_line_every_two_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(Goal(count=100))
    for elapsed in (0.0, 1.9, 2.0, 3.9, 4.1):
        lines.show(Tally(written=50, throttled=1), elapsed)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == " 50%  50 written, 1 throttled, 0 retried in 2.0 s (25 records/s)"
    assert len(said) == 2
    assert sentence(Tally(), 0.0).endswith("in 0.0 s (0 records/s)")


@pytest.mark.parametrize(
    "wrong",
    [
        ["--template", "{{nothing}}"],
        ["--rate", "0"],
        ["--rate", "inf"],
        ["--give-up", "nan"],
        ["--count", "-1"],
        ["--seconds", "-1"],
        ["--seconds", "nan"],
        ["--hot-keys", "1"],
        ["--keys", "1", "--hot-share", "0.5"],
    ],
)
def test_a_wrong_command_line_is_explained(
    wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["--stream", "orders", *wrong])
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(user: str) -> None:
        raise MissingPackageError(f"{user} needs boto3: pip install boto3")

    monkeypatch.setattr("spark_kinesis._boto.boto3", missing)
    assert command.main(["--stream", "orders"]) == 2
    assert "generate needs boto3: pip install boto3" in capsys.readouterr().err


def test_an_endpoint_without_a_server_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = ["--endpoint", "http://127.0.0.1:1", "--count", "1", "--quiet"]
    assert command.main(["--stream", "orders", *nowhere]) == 2
    said = capsys.readouterr()
    assert "Could not connect" in said.err
    assert said.out.startswith("orders: 0 written")


def test_the_summary_is_json_on_demand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "kinesis_client", lambda *_, **__: None)
    monkeypatch.setattr(command, "sender", lambda *_: lambda entries: [None] * len(entries))
    words = ["--stream", "orders", "--count", "3", "--rate", "1000", "--template", "ab"]
    assert command.main([*words, "--quiet", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.pop("seconds") >= 0
    assert found == {"stream": "orders", "written": 3, "throttled": 0, "retried": 0, "bytes": 6}
