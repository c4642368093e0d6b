"""Writes `avro.json`: values in Avro's binary encoding, as fastavro writes them.

Needs `pip install fastavro==1.13.1`. The file never changes: run this program only for a new case.
"""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

from fastavro import schemaless_writer  # type: ignore[import-not-found, unused-ignore]

SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "customer", "type": "string"},
        {"name": "total", "type": ["null", "double"], "default": None},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
    ],
}
ORDERS = [
    {"id": 17, "customer": "Zürich", "total": 2.5, "tags": ["new", "gift"]},
    {"id": -1, "customer": "", "total": None, "tags": []},
    {"id": 2**62, "customer": "x" * 300, "total": -0.0, "tags": ["a"] * 100},
]


def encoded(order: dict[str, object]) -> str:
    """An order in Avro's binary encoding, in Base64."""
    stream = io.BytesIO()
    schemaless_writer(stream, SCHEMA, order)
    return base64.b64encode(stream.getvalue()).decode()


if __name__ == "__main__":
    records = [{"value": order, "data": encoded(order)} for order in ORDERS]
    maker = "fastavro 1.13.1, run by make_avro.py"
    text = json.dumps({"maker": maker, "schema": SCHEMA, "records": records}, indent=2)
    Path(__file__).with_name("avro.json").write_text(text + "\n", encoding="utf-8")
