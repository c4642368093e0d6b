"""Faults, the clock and the statistics of calls, by the admin endpoint."""

from __future__ import annotations

import http.client
import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ConnectionClosedError, HTTPClientError, ReadTimeoutError

from spark_kinesis.local._kinesis import command
from tests.simulator.calls import REGION, code_of, iterator, read

SHARD = "shardId-000000000000"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """A local Kinesis with a simulated clock."""
    words = [*command({"given": 1}, port=0), "--clock", "simulated"]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        said = process.stdout.readline()
        assert said.startswith("listening on "), said
        try:
            yield said.removeprefix("listening on ").strip()
        finally:
            process.stdin.close()


def client_without_retries(endpoint: str, read_timeout: float) -> Any:
    return boto3.client(
        "kinesis",
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id="any",
        aws_secret_access_key="any",
        config=Config(read_timeout=read_timeout, retries={"total_max_attempts": 1}, proxies={}),
    )


@pytest.fixture(scope="module")
def kinesis(endpoint: str) -> Any:
    return client_without_retries(endpoint, read_timeout=60)


@pytest.fixture
def admin(endpoint: str) -> Iterator[Callable[..., Any]]:
    """Calls the admin endpoint, without proxies. Faults end with the test."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def call(method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{endpoint}/_simulator/{path}", data, method=method)
        with opener.open(request, timeout=10) as answer:
            return json.load(answer)

    yield call
    call("DELETE", "faults")


def put(kinesis: Any, data: bytes) -> Any:
    return kinesis.put_record(StreamName="given", Data=data, PartitionKey="k")


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("throttle", "ProvisionedThroughputExceededException"),
        ("internal-failure", "InternalFailure"),
        ("unavailable", "ServiceUnavailable"),
        ("expired-token", "ExpiredTokenException"),
        ("access-denied", "AccessDeniedException"),
        ("limit-exceeded", "LimitExceededException"),
        ("kms-throttled", "KMSThrottlingException"),
    ],
)
def test_a_fault_applies_as_often_as_requested(
    kinesis: Any, admin: Callable[..., Any], fault: str, code: str
) -> None:
    rule = {"fault": fault, "operation": "PutRecord", "stream": "given", "times": 1}
    made = admin("POST", "faults", rule)
    assert code_of(lambda: put(kinesis, b"")) == code
    put(kinesis, b"")
    (listed,) = admin("GET", "faults")["faults"]
    assert listed.items() >= {**rule, **made, "struck": 1}.items()
    admin("DELETE", f"faults/{made['id']}")
    assert admin("GET", "faults") == {"faults": []}


@pytest.mark.parametrize(
    ("rule", "error", "written"),
    [
        ({"fault": "reset"}, (ConnectionClosedError, HTTPClientError), False),
        ({"fault": "answer-lost"}, (ConnectionClosedError, HTTPClientError), True),
        ({"fault": "stall", "seconds": 3600}, ReadTimeoutError, True),
    ],
)
def test_a_broken_connection_and_its_effect(
    kinesis: Any,
    admin: Callable[..., Any],
    rule: dict[str, Any],
    error: type[Exception] | tuple[type[Exception], ...],
    written: bool,
) -> None:
    before = len(read(kinesis, "given", SHARD))
    admin("POST", "faults", {**rule, "times": 1})
    is_stalled = error is ReadTimeoutError
    writer = client_without_retries(kinesis.meta.endpoint_url, 2) if is_stalled else kinesis
    with pytest.raises(error):
        put(writer, b"x")
    assert len(read(kinesis, "given", SHARD)) - before == written


def test_an_answer_is_cut_short(endpoint: str, kinesis: Any, admin: Callable[..., Any]) -> None:
    before = len(read(kinesis, "given", SHARD))
    admin("POST", "faults", {"fault": "truncate", "times": 1})
    connection = http.client.HTTPConnection(endpoint.removeprefix("http://"), timeout=10)
    headers = {"X-Amz-Target": "Kinesis_20131202.PutRecord"}
    body = json.dumps({"StreamName": "given", "PartitionKey": "k", "Data": ""})
    connection.request("POST", "/", body, headers)
    with pytest.raises(http.client.IncompleteRead) as cut:
        connection.getresponse().read()
    connection.close()
    assert cut.value.partial
    assert cut.value.expected
    assert len(read(kinesis, "given", SHARD)) == before + 1


def test_a_wrong_fault_is_explained(admin: Callable[..., Any]) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        admin("POST", "faults", {"fault": "throttle", "rate": 2})
    assert refused.value.code == 400
    error = json.load(refused.value)["error"]
    assert "'rate'" in error
    assert "2" in error
    assert "0 to 1" in error


def test_the_clock_expires_iterators_and_trims(kinesis: Any, admin: Callable[..., Any]) -> None:
    put(kinesis, b"old")
    token = iterator(kinesis, "given", SHARD)
    before = admin("GET", "clock")["now"]
    assert admin("GET", "clock")["now"] == before
    assert admin("POST", "clock", {"advance": 300.5})["now"] == pytest.approx(before + 300.5)
    assert code_of(lambda: kinesis.get_records(ShardIterator=token)) == "ExpiredIteratorException"
    assert read(kinesis, "given", SHARD)
    admin("POST", "clock", {"advance": 24 * 3600})
    assert not read(kinesis, "given", SHARD)


def test_statistics_count_the_calls_of_a_client(kinesis: Any, admin: Callable[..., Any]) -> None:
    admin("POST", "clock", {"advance": 25 * 3600})
    admin("DELETE", "stats")
    put(kinesis, b"abc")
    admin("POST", "faults", {"fault": "throttle", "operation": "GetRecords", "times": 1})
    token = iterator(kinesis, "given", SHARD)
    code_of(lambda: kinesis.get_records(ShardIterator=token))
    assert len(kinesis.get_records(ShardIterator=token)["Records"]) == 1
    assert admin("GET", "stats") == {
        "calls": {"GetRecords": 2, "GetShardIterator": 1, "PutRecord": 1},
        "refused": {"GetRecords": {"ProvisionedThroughputExceededException": 1}},
        "recordsPut": 1,
        "bytesPut": 4,
        "recordsRead": 1,
        "bytesRead": 4,
        "entriesFailed": 0,
    }
