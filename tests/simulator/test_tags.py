"""Tags of streams, by name and by ARN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.simulator.calls import code_of


def tags_of(kinesis: Any, stream: str) -> dict[str, str]:
    """All tags, page by page."""
    found: dict[str, str] = {}
    more: dict[str, str] = {}
    while True:
        page = kinesis.list_tags_for_stream(StreamName=stream, Limit=3, **more)
        assert len(page["Tags"]) <= 3
        found.update({tag["Key"]: tag["Value"] for tag in page["Tags"]})
        if not page["HasMoreTags"]:
            return found
        more = {"ExclusiveStartTagKey": page["Tags"][-1]["Key"]}


def test_tags_by_name(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(1)
    assert tags_of(kinesis, stream) == {}
    tags = {f"key-{i}": f"Wert {i} ü @ +=:/" for i in range(7)}
    kinesis.add_tags_to_stream(StreamName=stream, Tags=tags)
    kinesis.add_tags_to_stream(StreamName=stream, Tags={"key-0": ""})
    assert tags_of(kinesis, stream) == {**tags, "key-0": ""}
    kinesis.remove_tags_from_stream(StreamName=stream, TagKeys=["key-0", "none"])
    del tags["key-0"]
    assert tags_of(kinesis, stream) == tags
    assert len(kinesis.list_tags_for_stream(StreamName=stream)["Tags"]) == 6


def test_tags_by_arn(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(1)
    summary = kinesis.describe_stream_summary(StreamName=stream)["StreamDescriptionSummary"]
    arn = summary["StreamARN"]
    kinesis.tag_resource(ResourceARN=arn, Tags={"team": "data", "cost": "low"})
    assert tags_of(kinesis, stream) == {"team": "data", "cost": "low"}
    kinesis.untag_resource(ResourceARN=arn, TagKeys=["cost"])
    assert kinesis.list_tags_for_resource(ResourceARN=arn)["Tags"] == [
        {"Key": "team", "Value": "data"}
    ]
    calls: list[Callable[[], Any]] = [
        lambda: kinesis.tag_resource(ResourceARN=arn + "-none", Tags={"a": "b"}),
        lambda: kinesis.untag_resource(ResourceARN=arn + "-none", TagKeys=["a"]),
        lambda: kinesis.list_tags_for_resource(ResourceARN=arn + "-none"),
    ]
    for call in calls:
        assert code_of(call) == "ResourceNotFoundException"
    no_arn = code_of(lambda: kinesis.list_tags_for_resource(ResourceARN="nonsense"))
    assert no_arn == "ValidationException"


def test_tags_have_limits(kinesis: Any, unchecked: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(1)
    kinesis.add_tags_to_stream(StreamName=stream, Tags={f"key-{i}": "v" for i in range(50)})

    def refused(tags: dict[str, str]) -> str:
        return code_of(lambda: unchecked.add_tags_to_stream(StreamName=stream, Tags=tags))

    assert refused({"one more": "v"}) == "InvalidArgumentException"
    assert refused({"key-0": "ü" * 256, "key?": ""}) == "InvalidArgumentException"
    assert refused({"aws:key": "v"}) == "InvalidArgumentException"
    for wrong in ({}, {"": "v"}, {"k" * 129: "v"}, {"key-0": "v" * 257}):
        assert refused(wrong) == "ValidationException"
    assert refused({f"key-{i}": "v" for i in range(201)}) == "ValidationException"
    limits: list[Callable[[], Any]] = [
        lambda: unchecked.list_tags_for_stream(StreamName=stream, Limit=51),
        lambda: unchecked.list_tags_for_stream(StreamName=stream, Limit=0),
        lambda: unchecked.remove_tags_from_stream(StreamName=stream, TagKeys=[]),
    ]
    for call in limits:
        assert code_of(call) == "ValidationException"
    assert set(tags_of(kinesis, stream).values()) == {"v"}
