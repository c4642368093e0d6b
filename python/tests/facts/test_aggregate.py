"""The reader of aggregated records, against an independent writer and reader."""

from __future__ import annotations

import subprocess
import sys
from hashlib import md5

import pytest
from aws_kinesis_agg.aggregator import RecordAggregator
from aws_kinesis_agg.deaggregator import iter_deaggregate_records
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis.tools.facts.aggregates import Aggregate, UserRecord, parse

MARK = b"\xf3\x89\x9a\xc2"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
ROWS = st.lists(
    st.tuples(TEXTS, st.binary(max_size=50), st.none() | st.integers(0, 2**128 - 1)),
    min_size=1,
    max_size=20,
)


def sealed(message: bytes) -> bytes:
    return MARK + message + md5(message, usedforsecurity=False).digest()


@given(ROWS)
def test_it_reads_what_an_aggregation_library_wrote(
    rows: list[tuple[str, bytes, int | None]],
) -> None:
    library = RecordAggregator()
    for key, data, place in rows:
        library.add_user_record(key, data, None if place is None else str(place))
    _, _, data = library.clear_and_get().get_contents()
    found = parse(data)
    assert found is not None
    assert [(it.key, it.data) for it in found.rows] == [(key, data) for key, data, _ in rows]
    given_keys = [None if place is None else str(place) for _, _, place in rows]
    # The library makes up a hash key where none was given.
    assert all(
        it.hash_key == place for it, place in zip(found.rows, given_keys, strict=True) if place
    )


@given(st.binary(max_size=60))
def test_it_agrees_with_an_independent_reader_on_any_message(message: bytes) -> None:
    data = sealed(message)
    found = parse(data)
    if found is not None and found.rows:
        record = {"kinesis": {"data": data, "partitionKey": "k", "sequenceNumber": "1"}}
        read = list(iter_deaggregate_records([record], data_format="Binary"))
        assert len(read) == len(found.rows)


@given(st.binary(max_size=100))
def test_other_bytes_are_a_plain_record(data: bytes) -> None:
    assert parse(data) is None
    assert parse(MARK + data + bytes(16)) is None


ROW = b"\x1a\x05\x08\x00\x1a\x01x"


@pytest.mark.parametrize(
    "message",
    [
        ROW,  # no key in the table
        b"\x0a\x01a\x1a\x02\x08\x00",  # no data
        b"\x0a\x01a\x1a\x07\x08\x00\x10\x00\x1a\x01x",  # no hash key in the table
        b"\x0a\x01\xff" + ROW,  # no UTF-8
        b"\x0a\x09a" + ROW,  # a span past the end
        b"\x0a\x01a\x1b" + ROW,  # a group that does not end
        b"\x0a\x01a\x00" + ROW,  # field 0
        b"\x0a\x01a",  # no row
    ],
)
def test_a_malformed_aggregate_is_a_plain_record(message: bytes) -> None:
    assert parse(sealed(b"\x0a\x01a" + ROW)) is not None
    assert parse(sealed(message)) is None


def test_nothing_else_needs_to_be_imported_before() -> None:
    data = sealed(b"\x0a\x01a" + ROW)
    program = (
        "import sys; from spark_kinesis.tools.facts.aggregates import parse; before = sys.path[:];"
        f"found = parse({data!r}); assert found.rows[0].data == b'x';"
        "assert sys.path == before"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_unknown_fields_are_skipped() -> None:
    more = (
        b"\x22\x01z" + b"\x29" + bytes(8) + b"\x2d" + bytes(4) + b"\x33\x08\x01\x34" + b"\x38\x01"
    )
    found = parse(sealed(b"\x0a\x01a" + more + ROW))
    assert found is not None
    assert found.rows == (UserRecord(key="a", hash_key=None, data=b"x"),)


def test_a_marker_has_no_row() -> None:
    found = parse(sealed(b"\x0a\x14spark-kinesis-marker"))
    assert found == Aggregate(rows=(), keys=("spark-kinesis-marker",))
    assert found.is_marker
