"""Writes `records.json`, and the aggregates that independent programs make of each case.

There are two programs, and they must write the same bytes. The Kinesis Client Library 3.1.0
(AggregatorUtil) read the contents of `records.json` from these files.

Needs `pip install aws_kinesis_agg==1.2.3 six protobuf==7.36.2` and `npm install
aws-kinesis-agg@4.2.8` (in a folder that NODE_PATH then names). The files never change: run this
program only for a new case.
"""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import TypedDict

from aws_kinesis_agg.aggregator import RecordAggregator

HERE = Path(__file__).parent


class Record(TypedDict):
    """A record of an aggregate."""

    partitionKey: str
    explicitHashKey: str | None
    data: str  # in base64


def record(key: str, data: bytes, hash_key: int | None = None) -> Record:
    """The records of each case. The program for Node takes hash keys below 2^32 for an index."""
    return {
        "partitionKey": key,
        "explicitHashKey": None if hash_key is None else str(hash_key),
        "data": base64.b64encode(data).decode(),
    }


CASES: dict[str, list[Record]] = {
    "one": [record("customer 1", b"alone")],
    "keys": [
        record("customer 1", b"first"),
        record("ключ", b"second"),
        record("customer 1", "третий".encode()),
        record("\N{KEY}" * 256, b"fourth"),
    ],
    "hash-keys": [
        record("a", b"first", 2**128 - 1),
        record("b", b"second"),
        record("a", b"third", 2**127),
        record("c", b"fourth", 2**128 - 1),
    ],
    "bytes": [
        record("a", b""),
        record("a", bytes(range(256))),
        record("a", b"\xf3\x89\x9a\xc2" + bytes(17)),
        record("a", b"x" * 20_000),
    ],
    "many": [record(f"key {n % 200}", f"{n}".encode(), 2**100 + n % 150) for n in range(300)],
}


def aggregated(records: list[Record]) -> bytes:
    """The aggregate of `aws_kinesis_agg`."""
    aggregator = RecordAggregator()
    for each in records:
        data = base64.b64decode(each["data"])
        aggregator.add_user_record(each["partitionKey"], data, each["explicitHashKey"])
    contents: bytes = aggregator.clear_and_get().get_contents()[2]
    return contents


def aggregated_by_node() -> dict[str, bytes]:
    """The aggregates of all cases by `aws-kinesis-agg`, which runs on Node."""
    command = ["node", str(HERE / "make.js")]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return {name: base64.b64decode(text) for name, text in json.loads(made).items()}


def main() -> None:
    """Write all files again."""
    (HERE / "records.json").write_text(json.dumps(CASES, indent=1) + "\n", encoding="utf-8")
    made = {name: aggregated(records) for name, records in CASES.items()}
    if made != aggregated_by_node():
        raise SystemExit("the two do not make the same bytes")
    for name, data in made.items():
        (HERE / f"{name}.bin").write_bytes(data)


if __name__ == "__main__":
    main()
