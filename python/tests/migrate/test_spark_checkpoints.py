"""Checkpoints of awslabs' and Qubole's connectors, in the form that their code writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from python.tests.migrate.streams import SHARD_END, TRIM_HORIZON, after
from spark_kinesis import MigrationError
from spark_kinesis._offsets import Progress
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.facts.files import open_files
from spark_kinesis.tools.handover.positions import Stop, Stops, ends_in_files, read_stops

HEAD = 'v1\n{"batchWatermarkMs":0,"batchTimestampMs":1767323045000,"conf":{}}'
AWSLABS, QUBOLE = "shard-source", "shard-commit"


class Old:
    """The checkpoint of a query of another connector."""

    def __init__(self, path: Path, folder: str) -> None:
        self.path, self.folder = path, folder

    def write(self, name: str, text: str) -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def begin(self, batch: int, number: int, *, is_completed: bool = True, **shards: Any) -> None:
        head = {"batchId": str(number), "streamName": "orders"}
        shards = {name.replace("_", "-"): it for name, it in shards.items()}
        self.write(f"offsets/{batch}", f"{HEAD}\n{json.dumps({'metadata': head, **shards})}")
        if is_completed:
            self.write(f"commits/{batch}", "v1\n{}")

    def end(self, number: int, shard: str, entry: dict[str, Any], root: str = "sources/0") -> None:
        place = (
            f"{root}/{self.folder}/{number}/{shard}" if root else f"{self.folder}/{number}/{shard}"
        )
        self.write(place, json.dumps({"shardId": shard, **entry}))

    def read(self, metadata: str | None = None, source: str | None = None) -> Stops:
        ends = None if metadata is None else ends_in_files(open_files(metadata))
        return read_stops(Checkpoint(open_files(str(self.path))), source, ends)


def place(kind: str, position: str = "", sub: int = -1, *, is_last: bool = True) -> dict[str, Any]:
    """A position as awslabs' connector stores it at the end of a micro-batch."""
    return {
        "iteratorType": kind,
        "iteratorPosition": position,
        "subSequenceNumber": sub,
        "isLast": is_last,
    }


def logged(kind: str, position: str = "", sub: str = "-1", is_last: str = "true") -> dict[str, str]:
    """The same at its beginning: there, all values are texts."""
    return {
        "iteratorType": kind,
        "iteratorPosition": position,
        "subSequenceNumber": sub,
        "isLast": is_last,
    }


def test_awslabs_positions_are_those_at_the_end_of_the_newest_completed_batch(
    tmp_path: Path,
) -> None:
    old = Old(tmp_path, AWSLABS)
    old.begin(0, 0, shard_0=logged("TRIM_HORIZON"))
    old.end(0, "shard-0", place("AFTER_SEQUENCE_NUMBER", "5"))
    start = logged("AFTER_SEQUENCE_NUMBER", "5")
    at = logged("AT_TIMESTAMP", "1767323045000")
    old.begin(1, 1, shard_0=start, shard_1=logged("TRIM_HORIZON"), shard_2=at, shard_3=start)
    old.end(1, "shard-0", place("AFTER_SEQUENCE_NUMBER", "17", 0))
    old.end(1, "shard-1", place("AFTER_SEQUENCE_NUMBER", "18", 2, is_last=False))
    old.end(1, "shard-3", place("SHARD_END"))
    old.write("sources/0/shard-source/1/.shard-0.crc", "binary")
    old.begin(2, 2, is_completed=False, shard_0=logged("AFTER_SEQUENCE_NUMBER", "17"))
    assert old.read() == {
        "orders": {
            "shard-0": after(17),
            "shard-1": after(18, 2),
            "shard-2": Stop(progress=Progress.AT, time="2026-01-02T03:04:05Z"),
            "shard-3": SHARD_END,
        }
    }


def test_several_old_sources_are_told_apart(tmp_path: Path) -> None:
    old = Old(tmp_path, AWSLABS)
    heads = [{"metadata": {"batchId": "0", "streamName": name}} for name in ("orders", "refunds")]
    begun = [json.dumps({**it, "shard-0": logged("TRIM_HORIZON")}) for it in heads]
    old.write("offsets/0", "\n".join([HEAD, *begun]))
    old.write("commits/0", "v1\n{}")
    for source in "01":
        root = f"sources/{source}"
        old.end(0, "shard-0", place("AFTER_SEQUENCE_NUMBER", f"{source}7"), root=root)
    with pytest.raises(MigrationError, match=r"with --from-source.* of these: 0, 1"):
        old.read()
    assert old.read(source="1") == {"refunds": {"shard-0": after(17)}}
    with pytest.raises(MigrationError, match="--from-source"):
        old.read(source="2")


def test_qubole_positions(tmp_path: Path) -> None:
    old = Old(tmp_path, QUBOLE)
    begun = {"iteratorType": "TRIM_HORIZON", "iteratorPosition": ""}
    old.begin(7, 5, shard_0=begun, shard_1=begun)  # the connector has numbers of its own
    old.end(5, "shard-0", {"iteratorType": "AFTER_SEQUENCE_NUMBER", "iteratorPosition": "17"})
    assert old.read()["orders"] == {"shard-0": after(17), "shard-1": TRIM_HORIZON}


def test_positions_elsewhere(tmp_path: Path) -> None:
    old = Old(tmp_path, AWSLABS)
    old.begin(0, 0, shard_0=logged("TRIM_HORIZON"))
    with pytest.raises(MigrationError, match=r"has no positions.*--metadata"):
        old.read()
    Old(tmp_path / "else", AWSLABS).end(0, "shard-0", place("AFTER_SEQUENCE_NUMBER", "17"), root="")
    assert old.read(str(tmp_path / "else"))["orders"] == {"shard-0": after(17)}


def test_other_checkpoints_are_refused(tmp_path: Path) -> None:
    old = Old(tmp_path, AWSLABS)
    with pytest.raises(MigrationError, match="no completed micro-batch"):
        old.read()
    old.write("offsets/0", f"{HEAD}\n{{}}")
    old.write("commits/0", "v1\n{}")
    with pytest.raises(MigrationError, match="offsets/0, source 0, is not an offset of these"):
        old.read()
    old.begin(0, 0, shard_0={"position": "17"})
    old.end(0, "shard-9", place("TRIM_HORIZON"))
    with pytest.raises(MigrationError, match="shard-0 has no 'iteratorType'"):
        old.read()
    old.write("sources/0/shard-source/0/shard-0", "half")
    with pytest.raises(MigrationError, match="the end of micro-batch 0 in shard-0 is not JSON"):
        old.read()
