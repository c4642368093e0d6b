"""Positions in files that users export."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

import pytest

from python.tests.migrate.streams import after
from spark_kinesis import MigrationError
from spark_kinesis.tools.handover.positions import (
    SHARD_END,
    TRIM_HORIZON,
    Stop,
    StopKind,
    Stops,
    read_positions,
)

LATEST = Stop(kind=StopKind.LATEST)
TIME = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


def read(
    folder: Path, text: str, stream: str | None = "orders", at: datetime | None = None
) -> Stops:
    path = folder / "positions"
    path.write_text(text, "utf-8")
    return read_positions(str(path), stream, at)


def test_csv(tmp_path: Path) -> None:
    text = "shard, sequenceNumber, subSequenceNumber\nshard-0,17,\nshard-1, 18 ,2\n\n"
    assert read(tmp_path, text) == {"orders": {"shard-0": after(17), "shard-1": after(18, 2)}}


def test_json_with_streams(tmp_path: Path) -> None:
    rows = [
        {"stream": "a", "shard": "shard-0", "sequenceNumber": "17", "subSequenceNumber": -1},
        {"stream": "a", "shard": "shard-1", "position": "TRIM_HORIZON"},
        {"stream": "b", "shard": "shard-0", "position": "at_sequence_number", "sequenceNumber": 19},
        {"stream": "b", "shard": "shard-1", "position": "SHARD_END", "sequenceNumber": None},
    ]
    assert read(tmp_path, json.dumps(rows), None) == {
        "a": {"shard-0": after(17), "shard-1": TRIM_HORIZON},
        "b": {"shard-0": Stop(kind=StopKind.AT, sequence_number=19), "shard-1": SHARD_END},
    }


def test_words_of_flink_and_kinesis_in_place_of_a_number(tmp_path: Path) -> None:
    words = ("EARLIEST_SEQUENCE_NUM", "LATEST", "LATEST_SEQUENCE_NUM", "SHARD_ENDING_SEQUENCE_NUM")
    lines = "\n".join(f"shard-{number},{word}" for number, word in enumerate(words))
    (found,) = read(tmp_path, f"shard,sequenceNumber\n{lines}").values()
    assert list(found.values()) == [TRIM_HORIZON, LATEST, LATEST, SHARD_END]


@pytest.mark.parametrize(
    "text", ["2026-01-02T03:04:05Z", "2026-01-02T04:04:05+01:00", "1767323045000"]
)
def test_a_time(tmp_path: Path, text: str) -> None:
    lines = f"shard,position,timestamp\nshard-0,AT_TIMESTAMP,{text}"
    assert read(tmp_path, lines)["orders"]["shard-0"] == Stop(kind=StopKind.AT_TIME, time=TIME)
    given = read(tmp_path, "shard,position\nshard-0,AT_TIMESTAMP", at=TIME)
    assert given["orders"]["shard-0"].time == TIME


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("shard,sequenceNumber\nshard-0,x", "row 1: 'x' is not a sequence number"),
        ("shard,sequenceNumber\nshard-0,", "row 1: None is not a sequence number"),
        ("shard,sequenceNumber\n,17", "row 1 has no shard"),
        (
            "shard,sequenceNumber\nshard-0,1\nshard-0,2",
            "row 2 names shard-0 of stream orders again",
        ),
        ("shardId,sequenceNumber\nshard-0,17", "'shardId' is not one of stream, shard, position"),
        ("shard,position\nshard-0,EARLIEST", "'EARLIEST' is not one of AFTER_SEQUENCE_NUMBER"),
        ("shard,position\nshard-0,AT_TIMESTAMP", "--at TIME"),
        ("shard,position,timestamp\na,AT_TIMESTAMP,2026-01-02T03:04:05", "a time with a time zone"),
        ("shard,sequenceNumber,subSequenceNumber\na,1,x", "subSequenceNumber 'x'"),
        ("shard,sequenceNumber\n", "no row"),
        ("[]", "no row"),
        ("{}", "not a JSON list"),
        ("[1]", "not a JSON list"),
        ('[{"shard": ', "not JSON"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(MigrationError, match=says):
        read(tmp_path, text)


def test_a_time_from_java_has_nine_digits_of_a_second(tmp_path: Path) -> None:
    row = "shard,position,timestamp\na,AT_TIMESTAMP,2026-01-02T03:04:05.123456789Z"
    time = read(tmp_path, row)["orders"]["a"].time
    assert time == datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=timezone.utc)


def test_a_row_without_a_stream_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MigrationError, match=r"row 1 has no stream: .* --stream"):
        read(tmp_path, "shard,sequenceNumber\nshard-0,17", None)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MigrationError, match="missing"):
        read_positions(str(tmp_path / "missing.csv"), None)
