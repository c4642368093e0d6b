"""An advice in a file."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from spark_kinesis import SparkKinesisError
from spark_kinesis.advise.apply import Saved
from spark_kinesis.tools.facts.streams import StreamSummary

CREATED = datetime(2026, 11, 23, 12, tzinfo=timezone.utc)
BERLIN, NEW_YORK = (timezone(timedelta(hours=it)) for it in (1, -5))
SUMMARY = StreamSummary(
    name="orders",
    arn="arn:aws:kinesis:us-east-1:123456789012:stream/orders",
    status="ACTIVE",
    created=CREATED,
    mode="PROVISIONED",
    retention=timedelta(days=1),
    open_shards=1,
    consumers=0,
    key=None,
    shard_metrics=(),
)


def saved(created: datetime) -> Saved:
    return Saved(arn=SUMMARY.arn, created=created, initial=(0,), wanted=(0, 7))


def test_a_machine_in_another_time_zone_continues(tmp_path: Path) -> None:
    file = str(tmp_path / "advice.json")
    saved(CREATED.astimezone(BERLIN)).write(file)
    found = Saved.read(file)
    assert found == saved(CREATED)
    found.check(replace(SUMMARY, created=CREATED.astimezone(NEW_YORK)), file)
    content = json.loads(Path(file).read_text(encoding="utf-8"))
    assert content["created"] == "2026-11-23T12:00:00+00:00"


def test_a_file_with_a_local_time_is_continued(tmp_path: Path) -> None:
    file = tmp_path / "advice.json"
    saved(CREATED).write(str(file))
    content = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**content, "created": "2026-11-23T07:00:00-05:00"}), "utf-8")
    Saved.read(str(file)).check(SUMMARY, str(file))
    file.write_text(json.dumps({**content, "created": "2026-11-23T07:00:00"}), "utf-8")
    with pytest.raises(SparkKinesisError, match="has no offset from UTC"):
        Saved.read(str(file))


def test_a_stream_that_was_made_again_is_refused() -> None:
    again = replace(SUMMARY, created=(CREATED + timedelta(seconds=1)).astimezone(BERLIN))
    with pytest.raises(SparkKinesisError, match=r"created at 2026-11-23T12:00:01\+00:00"):
        saved(CREATED).check(again, "advice.json")
