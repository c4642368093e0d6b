"""The operations that the local Kinesis serves, of all that boto3 knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.simulator.test_wire import post


def test_served_operations_are_known(
    endpoint: str, kinesis: Any, record_property: Callable[[str, object], None]
) -> None:
    """Send an invalid body: the server refuses unknown operations before it reads the body."""
    codes = {
        name: post(endpoint, f"Kinesis_20131202.{name}", b"{")[1]
        for name in kinesis.meta.service_model.operation_names
    }
    served = {name for name, code in codes.items() if code == "SerializationException"}
    assert served >= {"PutRecords", "GetRecords", "ListShards"}
    assert {codes[name] for name in codes.keys() - served} <= {"UnknownOperationException"}
    for name in sorted(served):
        record_property("served", name)
