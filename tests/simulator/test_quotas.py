"""The limits of the service, with `quotas="aws"`."""

from __future__ import annotations

import subprocess
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest

from spark_kinesis.local._kinesis import command, ready_endpoint
from tests.simulator.calls import KEY_SPACE, client_of, code_of

MEBI = 2**20
THROTTLED = "ProvisionedThroughputExceededException"


@pytest.fixture(scope="module")
def limited() -> Iterator[Any]:
    """A client of a local Kinesis with quotas and more streams than can be created at once.

    Its time stands still, so that nothing is paid back while a test runs.
    """
    streams = {f"stream-{i}": 2 for i in range(8)}
    with subprocess.Popen(
        [*command(streams, port=0), "--quotas", "aws", "--clock", "simulated"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        endpoint = ready_endpoint(process, deque())
        assert endpoint is not None
        yield client_of(endpoint, retries=False)
        assert process.stdin is not None
        process.stdin.close()


def entry(size: int, hash_key: int = 0) -> dict[str, Any]:
    """A record of this size, partition key included."""
    return {"Data": b"x" * (size - 1), "PartitionKey": "k", "ExplicitHashKey": str(hash_key)}


def test_records_over_the_limit_of_their_shard_fail_and_the_others_do_not(limited: Any) -> None:
    entries = [
        entry(MEBI * 3 // 4),
        entry(MEBI * 3 // 4),
        entry(MEBI, KEY_SPACE - 1),
        entry(MEBI // 4),
        entry(MEBI // 2),
    ]
    answer = limited.put_records(StreamName="stream-0", Records=entries)
    assert answer["FailedRecordCount"] == 2
    assert [r.get("ErrorCode") for r in answer["Records"]] == [
        None,
        THROTTLED,
        None,
        None,
        THROTTLED,
    ]
    failed = answer["Records"][1]
    assert failed["ErrorMessage"] == (
        "Rate exceeded for shard shardId-000000000000 in stream stream-0 "
        "under account 000000000000."
    )
    assert "SequenceNumber" not in failed


def test_a_single_record_over_the_limit_is_refused(limited: Any) -> None:
    def put() -> Any:
        return limited.put_record(StreamName="stream-1", **entry(MEBI))

    put()
    assert code_of(put) == THROTTLED


def test_calls_over_the_limit_are_refused(limited: Any) -> None:
    for _ in range(5):
        limited.list_streams()
    assert code_of(limited.list_streams) == "LimitExceededException"
