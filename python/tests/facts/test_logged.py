"""Files of Spark's offset log: both versions, as Spark 4.3 has written them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spark_kinesis import CheckpointError
from spark_kinesis._offsets import is_kinesis
from spark_kinesis.tools.facts.offsets import NAMED, NUMBERED, LoggedOffsets, parse_log

GOLDEN = Path(__file__).parents[3] / "tests" / "golden"
KAFKA = '{"orders":{"0":17}}'

# Text within a line: Java ends a line only at these two characters.
lines = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=30)
ends = st.none() | lines.map("{{{}}}".format)
names = st.from_regex(r"[A-Za-z0-9_]{1,10}", fullmatch=True)
metadata = lines.map('{{"conf":"{}"}}'.format)
numbered = st.builds(
    LoggedOffsets,
    version=st.just(NUMBERED),
    metadata=metadata,
    offsets=st.lists(ends, max_size=4).map(lambda them: {str(n): it for n, it in enumerate(them)}),
)
named = st.builds(
    LoggedOffsets,
    version=st.just(NAMED),
    metadata=metadata,
    offsets=st.dictionaries(names, ends, max_size=4),
)


@given(numbered | named)
def test_a_file_survives_the_way_to_text_and_back(logged: LoggedOffsets) -> None:
    again = parse_log(logged.text, "a file")
    assert again == logged
    assert list(again.offsets) == list(logged.offsets), "another order"


@given(numbered | named, st.data())
def test_a_moved_source_leaves_the_other_lines_as_they_are(
    logged: LoggedOffsets, data: st.DataObject
) -> None:
    assume(logged.offsets)
    place = data.draw(st.integers(0, len(logged.offsets) - 1))
    source = list(logged.offsets)[place]
    before = logged.text.split("\n")
    moved = logged.with_offset(source, KAFKA).text.split("\n")
    assert moved.pop(2 + place) in (KAFKA, f"{source}:{KAFKA}")
    before.pop(2 + place)
    assert moved == before


@pytest.mark.parametrize(
    ("version", "ours", "other"), [(NUMBERED, "0", "1"), (NAMED, "orders", "clicks")]
)
def test_the_text_is_sparks(version: int, ours: str, other: str) -> None:
    text = (GOLDEN / f"offset-log-v{version}.txt").read_text()
    logged = parse_log(text, "a file")
    assert logged.version == version
    assert logged.text == text
    assert {it for it, end in logged.offsets.items() if end and is_kinesis(end)} == {ours}
    assert logged.offsets[other] == '{"offset":4,"timestamp":2000}'


def test_a_source_without_an_end_is_known() -> None:
    assert parse_log(f"v1\n{{}}\n{KAFKA}\n-\n", "a file").offsets == {"0": KAFKA, "1": None}
    assert parse_log(f"v2\n\n1:-\r\norders:{KAFKA}", "a file").offsets == {
        "1": None,
        "orders": KAFKA,
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "or it is incomplete. It is empty"),
        ("v1\n", "or it is incomplete. Its first line is 'v1'"),
        ("hello\n{}\n-", "is not a log of offsets.* 'hello'"),
        ("v2\n{}\norders", "a line without the name of a source: 'orders'"),
        ("v3\n{}\n-", r"version 3\. This release reads versions 1 and 2\. Install a later release"),
    ],
)
def test_other_files_are_refused(text: str, reason: str) -> None:
    with pytest.raises(CheckpointError, match=reason) as error:
        parse_log(text, "checkpoint/offsets/7")
    assert str(error.value).startswith("checkpoint/offsets/7 ")
