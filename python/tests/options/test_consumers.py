"""The consumer of a source: its options, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_kinesis import EnhancedFanOut, KinesisSource

NAMES = st.from_regex(r"[a-zA-Z0-9_.-]{1,128}", fullmatch=True)
ARNS = st.builds("arn:aws:kinesis:eu-west-1:123456789012:stream/s/consumer/{}:1".format, NAMES)


def options(consumer: EnhancedFanOut | None) -> dict[str, str]:
    """The options of a source that name its consumer."""
    said = KinesisSource(stream_name="s", consumer=consumer).options()
    return {name: value for name, value in said.items() if name != "streamName"}


def test_a_source_polls_by_default() -> None:
    assert options(None) == {}


@given(NAMES)
def test_a_name_is_an_option(name: str) -> None:
    assert options(EnhancedFanOut(name=name)) == {"consumerMode": "efo", "consumerName": name}


@given(st.lists(ARNS, min_size=1, max_size=5))
def test_arns_are_one_option(arns: list[str]) -> None:
    expected = {"consumerMode": "efo", "consumerArn": ",".join(arns)}
    assert options(EnhancedFanOut(arn=arns)) == expected
    if len(arns) == 1:
        assert options(EnhancedFanOut(arn=arns[0])) == expected


def test_the_arns_cannot_change() -> None:
    arns = ["a", "b"]
    consumer = EnhancedFanOut(arn=arns)
    arns.append("c")
    assert consumer == EnhancedFanOut(arn=("a", "b"))
    assert hash(consumer) == hash(EnhancedFanOut(arn=("a", "b")))
    assert repr(EnhancedFanOut(name="app")) == "EnhancedFanOut(name='app', arn=None)"


@pytest.mark.parametrize(
    ("fields", "passed_on"),
    [
        ({}, {}),
        ({"name": "a", "arn": "b"}, {"consumerName": "a", "consumerArn": "b"}),
        ({"name": " "}, {"consumerName": " "}),
        ({"arn": []}, {"consumerArn": ""}),
    ],
)
def test_wrong_values_are_passed_on(fields: dict[str, Any], passed_on: dict[str, str]) -> None:
    assert options(EnhancedFanOut(**fields)) == {"consumerMode": "efo", **passed_on}


@pytest.mark.parametrize("fields", [{"name": 1}, {"name": ["a"]}, {"arn": 1}, {"arn": ["a", 1]}])
def test_a_wrong_type_names_its_field(fields: dict[str, Any]) -> None:
    (field,) = fields
    with pytest.raises(TypeError, match=f"{field} must be str"):
        EnhancedFanOut(**fields)


def test_a_comma_does_not_make_two_arns_of_one_entry() -> None:
    with pytest.raises(ValueError, match="arn has the entry 'a,b' with a comma"):
        EnhancedFanOut(arn=["a,b"])
