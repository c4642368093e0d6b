"""Properties of Avro: values of chance, which this file encodes by Avro's specification."""

from __future__ import annotations

import base64
import json
import random
import struct
from typing import TYPE_CHECKING, Any

import pyspark
import pytest

from tests.e2e.payloads.test_registry import SPARK_AVRO
from tests.e2e.support.payloads import avro_long
from tests.e2e.support.programs import said_by

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,  # it downloads Spark's module for Avro
    pytest.mark.spark4,
]

VALUES = 300
COLORS = ["RED", "GREEN", "BLUE"]
ITEM = {
    "type": "record",
    "name": "Item",
    "fields": [{"name": "sku", "type": "string"}, {"name": "count", "type": "int"}],
}
FIELDS: list[dict[str, Any]] = [
    {"name": "id", "type": "long"},
    {"name": "name", "type": "string"},
    {"name": "price", "type": ["null", "double"]},
    {"name": "gift", "type": "boolean"},
    {"name": "raw", "type": "bytes"},
    {"name": "color", "type": {"type": "enum", "name": "Color", "symbols": COLORS}},
    {"name": "items", "type": {"type": "array", "items": ITEM}},
    {"name": "tags", "type": {"type": "map", "values": "string"}},
    {"name": "number", "type": "int"},
]
WRITER = {"type": "record", "name": "Order", "fields": FIELDS}
# It lacks a field, has another one, and a wider type.
READER: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "number", "type": "long"},
        {"name": "note", "type": "string", "default": "none"},
        *[it for it in FIELDS if it["name"] not in ("number", "raw")],
    ],
}


def values(chance: random.Random) -> list[dict[str, Any]]:
    """Orders of chance, with the limits of their types among them."""

    def text() -> str:
        return "".join(chance.choices('abc"{}\\ äß€😀\n', k=chance.choice([0, 1, 5, 200])))

    def whole(bits: int) -> int:
        most = 1 << (bits - 1)
        return chance.choice([0, -1, most - 1, -most, chance.randrange(-most, most)])

    def order() -> dict[str, Any]:
        return {
            "id": whole(64),
            "name": text(),
            "price": chance.choice([None, 0.0, chance.uniform(-1e300, 1e300)]),
            "gift": chance.random() < 0.5,
            "raw": chance.randbytes(chance.choice([0, 1, 70])),
            "color": chance.choice(COLORS),
            "items": [{"sku": text(), "count": whole(32)} for _ in range(chance.randrange(4))],
            "tags": {f"{it}{text()}": text() for it in range(chance.randrange(3))},
            "number": whole(32),
        }

    return [order() for _ in range(VALUES)]


def encoded(value: Any, schema: Any, chance: random.Random) -> bytes:
    """A value in Avro's binary encoding."""
    kind = schema["type"] if isinstance(schema, dict) else schema
    if isinstance(kind, list):  # a union of null and another type
        return b"\0" if value is None else b"\2" + encoded(value, kind[1], chance)
    if isinstance(kind, dict):
        return encoded(value, kind, chance)
    match kind:
        case "record":
            fields = schema["fields"]
            written = b"".join(encoded(value[it["name"]], it["type"], chance) for it in fields)
        case "array":
            written = blocks([encoded(it, schema["items"], chance) for it in value], chance)
        case "map":
            pairs = [
                encoded(key, "string", chance) + encoded(it, schema["values"], chance)
                for key, it in value.items()
            ]
            written = blocks(pairs, chance)
        case "enum":
            written = avro_long(schema["symbols"].index(value))
        case "boolean":
            written = bytes([value])
        case "double":
            written = struct.pack("<d", value)
        case "int" | "long":
            written = avro_long(value)
        case _:
            data = value.encode() if isinstance(value, str) else value
            written = avro_long(len(data)) + data
    return written


def blocks(items: list[bytes], chance: random.Random) -> bytes:
    """Items in one block or in several, with and without the size of a block."""
    written = b""
    while items:
        count = chance.randint(1, len(items))
        block, items = b"".join(items[:count]), items[count:]
        sized = avro_long(-count) + avro_long(len(block))
        written += (sized if chance.random() < 0.5 else avro_long(count)) + block
    return written + b"\0"


def test_values_come_back_and_other_bytes_have_a_reason(tmp_path: Path) -> None:
    minor = ".".join(pyspark.__version__.split(".")[:2])
    if minor not in SPARK_AVRO:
        pytest.skip(f"spark-avro for Spark {minor} was not available")
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    orders = values(chance)
    records = [encoded(it, WRITER, chance) for it in orders]
    cut = [it[: chance.randrange(len(it))] for it in records]
    longer = [it + chance.randbytes(chance.randint(1, 20)) for it in records]
    cases = [
        case(WRITER, records),
        case(READER, records),
        case(WRITER, cut),
        case(READER, longer),
    ]
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(cases))
    same, read, *wrong = said_by("avro_decode", SPARK_AVRO[minor], str(file), cwd=tmp_path)
    shown = [{**it, "raw": it["raw"].hex()} for it in orders]
    assert same == [[it, None] for it in shown], seed
    names = [it["name"] for it in READER["fields"]]
    wider = [{name: {"note": "none", **it}[name] for name in names} for it in shown]
    assert read == [[it, None] for it in wider], seed
    for found in wrong:
        assert len(found) == VALUES, seed
        for value, reason in found:
            assert value is None, seed
            assert reason.startswith("NOT_AVRO: "), seed


def case(reader: dict[str, Any], records: list[bytes]) -> dict[str, Any]:
    """Records, and the schema that they are converted to."""
    data = [base64.b64encode(it).decode() for it in records]
    return {"schema": WRITER, "reader": reader, "records": data}
