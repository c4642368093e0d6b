"""What the tests of the doctor share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis._offsets import Progress, ShardOffset
from tests.simulator.calls import client_of

if TYPE_CHECKING:
    from datetime import datetime

    from spark_kinesis.local import LocalKinesis
    from spark_kinesis.tools.examination import Finding, Report

FIRST = "shardId-000000000000"


def found(report: Report, section: str, subject: str) -> Finding:
    """The only finding about a subject."""
    (finding,) = (it for it in report if (it.section, it.subject) == (section, subject))
    return finding


def problems(report: Report) -> list[Finding]:
    """All but the clock: the tests move that of the server."""
    return [it for it in report.problems if it.subject != "clock"]


def after(number: int, at: datetime) -> ShardOffset:
    """A shard that was read up to a record, and completely up to a time."""
    return ShardOffset(progress=Progress.AFTER, sequence_number=number, complete_as_of=at)


def put(local: LocalKinesis, data: str) -> int:
    """Write to the first shard. Returns the sequence number."""
    put_record = client_of(local.endpoint).put_record
    answer = put_record(
        StreamName="orders", PartitionKey="k", Data=data.encode(), ExplicitHashKey="0"
    )
    return int(answer["SequenceNumber"])
