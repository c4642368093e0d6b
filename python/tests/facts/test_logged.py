"""Files of Spark's offset log: both versions, as Spark 4.3 has written them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spark_kinesis import CheckpointError
from spark_kinesis._offsets import is_kinesis
from spark_kinesis.tools.facts.checkpoints import NAMED, NUMBERED, Batch

GOLDEN = Path(__file__).parents[3] / "tests" / "golden"
KAFKA = '{"orders":{"0":17}}'

# Text within a line: Java ends a line only at these two characters.
lines = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=30)
ends = st.none() | lines.map("{{{}}}".format)
names = st.from_regex(r"[A-Za-z0-9_]{1,10}", fullmatch=True)
metadata = lines.map('{{"conf":"{}"}}'.format)
numbered = st.builds(
    Batch,
    number=st.just(7),
    version=st.just(NUMBERED),
    metadata=metadata,
    ends=st.lists(ends, max_size=4).map(lambda them: {str(n): it for n, it in enumerate(them)}),
)
named = st.builds(
    Batch,
    number=st.just(7),
    version=st.just(NAMED),
    metadata=metadata,
    ends=st.dictionaries(names, ends, max_size=4),
)


@given(numbered | named)
def test_a_file_survives_the_way_to_text_and_back(logged: Batch) -> None:
    again = Batch.parsed(7, logged.text, "a file")
    assert again == logged
    assert list(again.ends) == list(logged.ends), "another order"


@given(numbered | named, st.data())
def test_a_moved_source_leaves_the_other_lines_as_they_are(
    logged: Batch, data: st.DataObject
) -> None:
    assume(logged.ends)
    place = data.draw(st.integers(0, len(logged.ends) - 1))
    source = list(logged.ends)[place]
    before = logged.text.split("\n")
    moved = logged.with_end(source, KAFKA).text.split("\n")
    assert moved.pop(2 + place) in (KAFKA, f"{source}:{KAFKA}")
    before.pop(2 + place)
    assert moved == before


@pytest.mark.parametrize(
    ("version", "ours", "other"), [(NUMBERED, "0", "1"), (NAMED, "orders", "clicks")]
)
def test_the_text_is_sparks(version: int, ours: str, other: str) -> None:
    text = (GOLDEN / f"offset-log-v{version}.txt").read_text()
    logged = Batch.parsed(7, text, "a file")
    assert logged.version == version
    assert logged.text == text
    assert {it for it, end in logged.ends.items() if end and is_kinesis(end)} == {ours}
    assert logged.ends[other] == '{"offset":4,"timestamp":2000}'


def test_a_source_without_an_end_is_known() -> None:
    assert Batch.parsed(7, f"v1\n{{}}\n{KAFKA}\n-\n", "a file").ends == {"0": KAFKA, "1": None}
    assert Batch.parsed(7, f"v2\n\n1:-\r\norders:{KAFKA}", "a file").ends == {
        "1": None,
        "orders": KAFKA,
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "or it is incomplete. It begins with ''"),
        ("v1\n", "or it is incomplete. It begins with 'v1"),
        ("hello\n{}\n-", "is not a log of offsets.* 'hello"),
        ("v2\n{}\norders", "a line without the name of a source"),
        ("v3\n{}\n-", r"version 3\. This release reads versions 1 and 2\. Install a later release"),
    ],
)
def test_other_files_are_refused(text: str, reason: str) -> None:
    with pytest.raises(CheckpointError, match=reason) as error:
        Batch.parsed(7, text, "checkpoint/offsets/7")
    assert str(error.value).startswith("checkpoint/offsets/7 ")
