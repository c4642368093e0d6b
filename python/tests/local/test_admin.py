"""Faults, clock and statistics over HTTP."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from spark_kinesis import LocalKinesisError
from spark_kinesis.local import LocalEndpoint, Stats

if TYPE_CHECKING:
    from python.tests.local.stub_server import Stub


def test_a_fault_sends_only_what_was_set(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("POST /_simulator/faults", (200, {"id": 1}), (200, {"id": 2}))
    assert kinesis.fault("throttle").id == 1
    kinesis.fault(
        "stall",
        operation="GetRecords",
        stream="orders",
        shard="shardId-000000000000",
        times=3,
        rate=0.5,
        skip=0,
        seed=7,
        seconds=2.5,
    )
    assert stub.bodies("POST /_simulator/faults") == [
        {"fault": "throttle"},
        {
            "fault": "stall",
            "operation": "GetRecords",
            "stream": "orders",
            "shard": "shardId-000000000000",
            "times": 3,
            "rate": 0.5,
            "skip": 0,
            "seed": 7,
            "seconds": 2.5,
        },
    ]


def test_a_fault_is_removed_at_the_end_of_with(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("POST /_simulator/faults", (200, {"id": 4}))
    stub.say("GET /_simulator/faults", (200, {"faults": [{"id": 4, "struck": 2}]}))
    stub.say("DELETE /_simulator/faults/4", (200, {}))
    with kinesis.fault("reset") as fault:
        assert fault.struck == 2
        assert repr(fault) == "<Fault 4 reset>"
    assert ("DELETE /_simulator/faults/4", None) in stub.asked
    stub.say("GET /_simulator/faults", (200, {"faults": []}))
    fault.remove()
    assert len(stub.bodies("DELETE /_simulator/faults/4")) == 1
    with pytest.raises(LocalKinesisError, match=r"fault 4 \(reset\) has been removed"):
        _ = fault.struck


def test_a_refused_fault_has_the_reason(stub: Stub, kinesis: LocalEndpoint) -> None:
    stub.say("POST /_simulator/faults", (400, {"error": "rate must be 0 to 1"}))
    with pytest.raises(LocalKinesisError, match="HTTP 400: rate must be 0 to 1"):
        kinesis.fault("throttle", rate=2)


@pytest.mark.parametrize("by", [90, 90.0, timedelta(minutes=1, seconds=30)])
def test_the_clock_moves_by_seconds(
    stub: Stub, kinesis: LocalEndpoint, by: float | timedelta
) -> None:
    stub.say("POST /_simulator/clock", (200, {"now": 1.5}))
    assert kinesis.advance(by) == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=timezone.utc)
    assert stub.bodies("POST /_simulator/clock") == [{"advance": 90}]
    stub.say("GET /_simulator/clock", (200, {"now": 0}))
    assert kinesis.now == datetime(1970, 1, 1, tzinfo=timezone.utc)


def test_statistics_have_names(stub: Stub, kinesis: LocalEndpoint) -> None:
    answer = {
        "calls": {"GetRecords": 12},
        "refused": {"GetRecords": {"ProvisionedThroughputExceededException": 3}},
        "recordsPut": 1,
        "bytesPut": 2,
        "recordsRead": 3,
        "bytesRead": 4,
        "entriesFailed": 5,
    }
    stub.say("GET /_simulator/stats", (200, answer))
    assert kinesis.stats() == Stats(
        calls={"GetRecords": 12},
        refused={"GetRecords": {"ProvisionedThroughputExceededException": 3}},
        records_put=1,
        bytes_put=2,
        records_read=3,
        bytes_read=4,
        entries_failed=5,
    )
    stub.say("DELETE /_simulator/stats", (200, {}))
    kinesis.reset_stats()
    assert stub.asked[-1] == ("DELETE /_simulator/stats", None)
