"""Trial traffic."""

from __future__ import annotations

import json
import sys

import made
import pytest

from log_processing import producer
from log_processing.events.event import BadEvent, LogEvent
from log_processing.events.parsing import parse
from spark_kinesis.local import LocalKinesis


def test_the_share_of_errors_is_exact() -> None:
    words = producer.template(0.07).split("{{choice ")[1].split("}}")[0].split(",")
    assert (len(words), words.count("ERROR")) == (100, 7)


@pytest.mark.parametrize("option", ["--errors=2", "--garbage=-1"])
def test_a_wrong_share_is_named(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        producer.main(["--stream=logs", option])
    assert "is not from 0 to 1" in capsys.readouterr().err


@pytest.mark.parametrize("rate", ["0", "-1", "nan", "inf"])
def test_a_wrong_rate_is_named(rate: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        producer.main(["--stream=logs", f"--rate={rate}"])
    assert f"'{rate}' is not a number above 0" in capsys.readouterr().err


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "sys.exit(7)"])
def test_a_generator_that_fails_ends_the_producer(
    end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = [f"import os, sys; {end}", "import time; time.sleep(600)"]
    commands = [[sys.executable, "-c", text] for text in programs]
    monkeypatch.setattr(producer, "commands", lambda _: commands[::-1])
    assert producer.main(["--stream=logs"]) == (7 if "7" in end else 128 + 9)


def test_it_writes_events_and_garbage() -> None:
    with LocalKinesis(streams={"logs": 2}) as kinesis:
        arguments = ["--stream=logs", "--rate=200", "--seconds=1", "--garbage=0.2"]
        assert producer.main([*arguments, f"--endpoint={kinesis.endpoint}"]) == 0
        records = kinesis.records("logs")
    parsed = [one for record in records for one in parse(made.record(record.data))]
    events = [one for one in parsed if isinstance(one, LogEvent)]
    assert {event.service for event in events} == set(producer.SERVICES)
    assert all(json.loads(record.data) for record in records if b"message" in record.data)
    assert any(isinstance(one, BadEvent) for one in parsed)
