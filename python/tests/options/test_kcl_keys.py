"""The lease table of a KCL application as a dictionary."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from spark_kinesis import AtTimestamp, FromKclTable, KinesisSource, Latest

NOON = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)


def start(given: Any) -> Any:
    return KinesisSource(stream_name="orders", starting_position=given).starting_position


def test_a_table_alone_is_enough() -> None:
    assert start({"kclTable": "app"}) == FromKclTable(table="app")
    named = KinesisSource(stream_name="orders", starting_position={"kclTable": "app"})
    assert named == KinesisSource(stream_name="orders", starting_position=FromKclTable(table="app"))
    assert len({named, named}) == 1


def test_each_field_has_a_key() -> None:
    keys = {
        "kclTable": "app",
        "at": NOON,
        "others": Latest(),
        "ignoreCreationTime": True,
        "dynamodbEndpoint": "http://localhost:8000",
        "capacityPerSecond": 2.5,
    }
    assert start(keys) == FromKclTable(
        table="app",
        at=NOON,
        others=Latest(),
        ignore_creation_time=True,
        dynamodb_endpoint="http://localhost:8000",
        capacity_per_second=2.5,
    )
    assert len(keys) == len(FromKclTable.__dataclass_fields__), "a field has no key"


def test_a_dictionary_may_come_from_json() -> None:
    text = '{"kclTable": "app", "at": "2026-01-02T13:00:00+01:00", "others": "trim_horizon"}'
    assert start(json.loads(text)) == FromKclTable(table="app", at=NOON, others="trim_horizon")
    later = start({"kclTable": "app", "others": "2026-01-02T12:00:01Z"})
    assert later.others == AtTimestamp(NOON + timedelta(seconds=1))


@pytest.mark.parametrize(
    ("keys", "error", "text"),
    [
        ({}, ValueError, "is a dictionary without the key 'kclTable'"),
        ({"orders": "latest"}, ValueError, "by stream or shard, use ByStream or ByShard."),
        ({"kclTable": "app", "capacity": 1}, ValueError, "Did you mean 'capacityPerSecond'?"),
        ({"kclTable": "app", "ats": NOON}, ValueError, "unknown key 'ats'. Did you mean 'at'?"),
        ({"kclTable": "app", "*": "latest"}, ValueError, "unknown key '*': expected kclTable, at"),
        ({"kclTable": "app", 1: 2}, ValueError, "starting_position has the unknown key 1:"),
        ({"kclTable": 7}, TypeError, "starting_position: table must be str, not 7 (int)"),
        ({"kclTable": "a", "ignoreCreationTime": "yes"}, TypeError, "must be bool, not 'yes'"),
        ({"kclTable": "a", "capacityPerSecond": 0}, ValueError, "must be greater than 0, not 0"),
        ({"kclTable": "a", "at": "soon"}, ValueError, "starting_position: at is 'soon': expected"),
        ({"kclTable": "a", "at": "2026-01-02T12:00"}, ValueError, "needs a time zone"),
        ({"kclTable": "a", "others": "2026-01-02"}, ValueError, "needs a time zone"),
        ({"kclTable": "a", "others": "newest"}, ValueError, "others must be 'latest' or"),
    ],
)
def test_other_dictionaries_are_refused(
    keys: dict[Any, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as refused:
        start(keys)
    assert text in str(refused.value)
    assert str(refused.value).startswith("starting_position")


def test_a_read_does_not_end_at_a_table() -> None:
    end: Any = {"kclTable": "app"}
    with pytest.raises(TypeError, match=r"ending_position must be .*, not \{'kclTable'"):
        KinesisSource(stream_name="orders", ending_position=end)
