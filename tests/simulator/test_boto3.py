"""boto3, in JSON, drives every operation of the simulator, started from the jars as users start it.

Needs `sbt bundle/assembly simulatorJar/assembly`; scala-library and slf4j-api are pyspark's own.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import http.client
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

TARGET = Path(__file__).parents[2] / "target"
KEY_SPACE = 2**128
REGION = "us-east-1"


def class_path() -> str:
    """The jars the simulator runs from."""
    version = (TARGET.parent / "python/src/spark_kinesis/VERSION").read_text().strip()
    spec = find_spec("pyspark")
    assert spec
    assert spec.origin
    spark_jars = Path(spec.origin).parent / "jars"
    jars = [
        TARGET / f"spark-kinesis_2.13-{version}.jar",
        TARGET / f"spark-kinesis-simulator_2.13-{version}.jar",
        *spark_jars.glob("scala-library-*.jar"),
        *spark_jars.glob("slf4j-api-*.jar"),
    ]
    missing = [str(jar) for jar in jars if not jar.exists()]
    assert not missing, f"build the jars first: {missing}"
    return ":".join(map(str, jars))


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """A simulator with one stream, stopped by closing its standard input."""
    java = shutil.which("java")
    assert java, "no java on the PATH"
    command = [java, "-Xmx512m", "-cp", class_path(), "sparkkinesis.simulator.Main"]
    arguments = ["--port", "0", "--stream", "given:3", "--stop-with-stdin"]
    process = subprocess.Popen(
        command + arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin
    assert process.stdout
    try:
        ready = process.stdout.readline()
        assert ready.startswith("listening on http://127.0.0.1:"), ready
        yield ready.removeprefix("listening on ").strip()
        process.stdin.close()
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()


def client_of(endpoint: str, region: str = REGION) -> Any:
    return boto3.client(
        "kinesis",
        endpoint_url=endpoint,
        region_name=region,
        aws_access_key_id="any",
        aws_secret_access_key="any",
    )


@pytest.fixture(scope="module")
def kinesis(endpoint: str) -> Any:
    return client_of(endpoint)


names = count(1)


@pytest.fixture
def make_stream(kinesis: Any) -> Callable[[int], str]:
    def make(shards: int) -> str:
        name = f"stream-{next(names)}"
        kinesis.create_stream(StreamName=name, ShardCount=shards)
        kinesis.get_waiter("stream_exists").wait(StreamName=name)
        return name

    return make


def iterator(kinesis: Any, stream: str, shard: str, kind: str = "TRIM_HORIZON", **more: Any) -> str:
    answer = kinesis.get_shard_iterator(
        StreamName=stream, ShardId=shard, ShardIteratorType=kind, **more
    )
    return str(answer["ShardIterator"])


def read(kinesis: Any, stream: str, shard: str, **position: Any) -> list[dict[str, Any]]:
    """All records to the tip or the end."""
    found: list[dict[str, Any]] = []
    token: str | None = iterator(kinesis, stream, shard, **position)
    while token:
        page = kinesis.get_records(ShardIterator=token)
        found += page["Records"]
        token = page.get("NextShardIterator")
        if not page["Records"] and page["MillisBehindLatest"] == 0:
            break
    return found


def shards(kinesis: Any, stream: str, **filter_: Any) -> list[dict[str, Any]]:
    more = {"ShardFilter": filter_} if filter_ else {}
    return list(kinesis.list_shards(StreamName=stream, **more)["Shards"])


def code_of(call: Callable[[], Any]) -> str:
    with pytest.raises(ClientError) as raised:
        call()
    error = raised.value.response["Error"]
    assert error["Message"]
    return str(error["Code"])


def test_the_stream_of_the_command_line_is_there(kinesis: Any) -> None:
    summary = kinesis.describe_stream_summary(StreamName="given")["StreamDescriptionSummary"]
    assert summary["StreamStatus"] == "ACTIVE"
    assert summary["OpenShardCount"] == 3
    assert summary["RetentionPeriodHours"] == 24
    assert summary["StreamARN"] == f"arn:aws:kinesis:{REGION}:000000000000:stream/given"
    age = dt.datetime.now(dt.timezone.utc) - summary["StreamCreationTimestamp"]
    assert dt.timedelta(0) <= age < dt.timedelta(hours=1)


def test_streams_are_made_listed_described_and_deleted(
    kinesis: Any, make_stream: Callable[[int], str]
) -> None:
    made = [make_stream(1) for _ in range(3)]
    pages = kinesis.get_paginator("list_streams").paginate(PaginationConfig={"PageSize": 2})
    listed = [name for page in pages for name in page["StreamNames"]]
    assert listed == sorted(listed)
    assert set(made) < set(listed)
    description = kinesis.describe_stream(StreamName=made[0])["StreamDescription"]
    assert len(description["Shards"]) == 1
    assert not description["HasMoreShards"]
    kinesis.delete_stream(StreamARN=description["StreamARN"])
    kinesis.get_waiter("stream_not_exists").wait(StreamName=made[0])
    assert made[0] not in kinesis.list_streams()["StreamNames"]


def test_regions_are_apart(endpoint: str, kinesis: Any) -> None:
    abroad = client_of(endpoint, "eu-west-1")
    abroad.create_stream(StreamName="abroad", ShardCount=1)
    assert abroad.list_streams()["StreamNames"] == ["abroad"]
    assert "abroad" not in kinesis.list_streams()["StreamNames"]
    arn = abroad.describe_stream_summary(StreamName="abroad")["StreamDescriptionSummary"]
    assert ":eu-west-1:" in arn["StreamARN"]


@pytest.mark.parametrize("data", [b"", b"text", bytes(range(256)), b"x" * (2**20 - 3)])
def test_a_record_comes_back_as_it_was_put(
    kinesis: Any, make_stream: Callable[[int], str], data: bytes
) -> None:
    stream = make_stream(4)
    key = "鍵"
    put = kinesis.put_record(StreamName=stream, Data=data, PartitionKey=key)
    hash_key = int.from_bytes(hashlib.md5(key.encode()).digest(), "big")
    assert put["ShardId"] == f"shardId-{hash_key * 4 // KEY_SPACE:012d}"
    (record,) = read(kinesis, stream, put["ShardId"])
    assert record["Data"] == data
    assert record["PartitionKey"] == key
    assert record["SequenceNumber"] == put["SequenceNumber"]


def test_put_records_answers_in_order(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(2)
    hash_keys = [0, KEY_SPACE - 1, 1, KEY_SPACE // 2]
    entries = [
        {"Data": str(key).encode(), "PartitionKey": "k", "ExplicitHashKey": str(key)}
        for key in hash_keys
    ]
    answer = kinesis.put_records(StreamName=stream, Records=entries)
    assert answer["FailedRecordCount"] == 0
    assert [r["ShardId"][-1] for r in answer["Records"]] == ["0", "1", "0", "1"]
    assert [r["Data"] for r in read(kinesis, stream, "shardId-000000000001")] == [
        str(KEY_SPACE - 1).encode(),
        str(KEY_SPACE // 2).encode(),
    ]


def test_iterators_of_all_five_types(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream, shard = make_stream(1), "shardId-000000000000"
    numbers = [
        kinesis.put_record(StreamName=stream, Data=data, PartitionKey="k")["SequenceNumber"]
        for data in (b"a", b"b", b"c")
    ]
    arrival = read(kinesis, stream, shard)[0]["ApproximateArrivalTimestamp"]

    def data(kind: str, **more: Any) -> bytes:
        return b"".join(r["Data"] for r in read(kinesis, stream, shard, kind=kind, **more))

    assert data("TRIM_HORIZON") == b"abc"
    assert data("LATEST") == b""
    assert data("AT_SEQUENCE_NUMBER", StartingSequenceNumber=numbers[1]) == b"bc"
    assert data("AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=numbers[1]) == b"c"
    assert data("AT_TIMESTAMP", Timestamp=arrival) == b"abc"
    assert data("AT_TIMESTAMP", Timestamp=0) == b"abc"


def test_pages_follow_each_other(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(1)
    entries = [{"Data": b"%d" % i, "PartitionKey": "k"} for i in range(7)]
    kinesis.put_records(StreamName=stream, Records=entries)
    token = iterator(kinesis, stream, "shardId-000000000000")
    sizes, behind = [], []
    for _ in range(3):
        page = kinesis.get_records(ShardIterator=token, Limit=3)
        sizes.append(len(page["Records"]))
        behind.append(page["MillisBehindLatest"] > 0)
        token = page["NextShardIterator"]
    assert sizes == [3, 3, 1]
    assert behind == [True, True, False]


def test_split_and_merge_close_parents_and_name_children(
    kinesis: Any, make_stream: Callable[[int], str]
) -> None:
    stream = make_stream(1)
    kinesis.put_record(StreamName=stream, Data=b"before", PartitionKey="k")
    first = shards(kinesis, stream)[0]["ShardId"]
    kinesis.split_shard(
        StreamName=stream, ShardToSplit=first, NewStartingHashKey=str(KEY_SPACE // 2)
    )
    low, high = (s["ShardId"] for s in shards(kinesis, stream, Type="AT_LATEST"))
    end = kinesis.get_records(ShardIterator=iterator(kinesis, stream, first))
    assert [r["Data"] for r in end["Records"]] == [b"before"]
    assert "NextShardIterator" not in end
    assert {c["ShardId"] for c in end["ChildShards"]} == {low, high}
    assert all(c["ParentShards"] == [first] for c in end["ChildShards"])
    kinesis.merge_shards(StreamName=stream, ShardToMerge=low, AdjacentShardToMerge=high)
    (merged,) = shards(kinesis, stream, Type="AT_LATEST")
    assert (merged["ParentShardId"], merged["AdjacentParentShardId"]) == (low, high)
    assert merged["HashKeyRange"]["EndingHashKey"] == str(KEY_SPACE - 1)
    closed = [s for s in shards(kinesis, stream) if s["ShardId"] != merged["ShardId"]]
    assert all("EndingSequenceNumber" in s["SequenceNumberRange"] for s in closed)
    assert "EndingSequenceNumber" not in merged["SequenceNumberRange"]


def test_update_shard_count(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(2)
    answer = kinesis.update_shard_count(
        StreamName=stream, TargetShardCount=3, ScalingType="UNIFORM_SCALING"
    )
    assert (answer["CurrentShardCount"], answer["TargetShardCount"]) == (2, 3)
    ranges = [s["HashKeyRange"] for s in shards(kinesis, stream, Type="AT_LATEST")]
    starts = sorted(int(r["StartingHashKey"]) for r in ranges)
    assert starts == [i * (KEY_SPACE // 3) for i in range(3)]


def test_shard_listing_filters_and_pages(kinesis: Any, make_stream: Callable[[int], str]) -> None:
    stream = make_stream(5)
    created = kinesis.describe_stream_summary(StreamName=stream)["StreamDescriptionSummary"][
        "StreamCreationTimestamp"
    ]
    for kind in ("AT_LATEST", "AT_TRIM_HORIZON", "FROM_TRIM_HORIZON"):
        assert len(shards(kinesis, stream, Type=kind)) == 5
    assert len(shards(kinesis, stream, Type="AFTER_SHARD_ID", ShardId="shardId-000000000002")) == 2
    for kind in ("AT_TIMESTAMP", "FROM_TIMESTAMP"):
        assert len(shards(kinesis, stream, Type=kind, Timestamp=created)) == 5
    pages = [kinesis.list_shards(StreamName=stream, MaxResults=2)]
    while "NextToken" in pages[-1]:
        pages.append(kinesis.list_shards(NextToken=pages[-1]["NextToken"], MaxResults=2))
    assert [len(page["Shards"]) for page in pages] == [2, 2, 1]
    after = kinesis.list_shards(StreamName=stream, ExclusiveStartShardId="shardId-000000000003")
    assert [s["ShardId"] for s in after["Shards"]] == ["shardId-000000000004"]
    token = kinesis.list_shards(StreamName=stream, MaxResults=2)["NextToken"]
    both = code_of(lambda: kinesis.list_shards(StreamName=stream, NextToken=token))
    assert both == "InvalidArgumentException"


def test_failures_have_the_names_of_the_service(
    kinesis: Any, make_stream: Callable[[int], str]
) -> None:
    stream, shard = make_stream(2), "shardId-000000000000"
    first = iterator(kinesis, stream, shard)
    failures: list[tuple[str, Callable[[], Any]]] = [
        (
            "ResourceNotFoundException",
            lambda: kinesis.put_record(StreamName="none", Data=b"", PartitionKey="k"),
        ),
        (
            "ResourceNotFoundException",
            lambda: iterator(kinesis, stream, "shardId-000000000009"),
        ),
        (
            "ResourceInUseException",
            lambda: kinesis.create_stream(StreamName=stream, ShardCount=1),
        ),
        (
            "LimitExceededException",
            lambda: kinesis.create_stream(StreamName="huge", ShardCount=100000),
        ),
        (
            "InvalidArgumentException",
            lambda: kinesis.get_records(ShardIterator="no iterator"),
        ),
        (
            "ValidationException",
            lambda: kinesis.get_records(ShardIterator=first, Limit=10001),
        ),
        (
            "InvalidArgumentException",
            lambda: iterator(
                kinesis, stream, shard, "AT_SEQUENCE_NUMBER", StartingSequenceNumber="17"
            ),
        ),
        (
            "InvalidArgumentException",
            lambda: kinesis.update_shard_count(
                StreamName=stream, TargetShardCount=5, ScalingType="UNIFORM_SCALING"
            ),
        ),
        (
            "InvalidArgumentException",
            lambda: kinesis.merge_shards(
                StreamName=stream, ShardToMerge=shard, AdjacentShardToMerge=shard
            ),
        ),
        ("InvalidArgumentException", kinesis.describe_stream_summary),
    ]
    for code, call in failures:
        assert code_of(call) == code


def post(endpoint: str, target: str, body: bytes, kind: str = "json") -> tuple[int, str, str]:
    connection = http.client.HTTPConnection(endpoint.removeprefix("http://"), timeout=10)
    headers = {"X-Amz-Target": target, "Content-Type": f"application/x-amz-{kind}-1.1"}
    connection.request("POST", "/", body, headers)
    answer = connection.getresponse()
    text = answer.read()
    error = answer.getheader("x-amzn-ErrorType") or ""
    said = json.loads(text)["__type"] if text and kind == "json" else error
    assert answer.getheader("x-amzn-RequestId")
    assert answer.getheader("Date")
    connection.close()
    return answer.status, error, said


@pytest.mark.parametrize(
    ("target", "body", "code"),
    [
        ("Kinesis_20131202.ListStreams", b"{", "SerializationException"),
        ("Kinesis_20131202.ListStreams", b"", "SerializationException"),
        ("Kinesis_20131202.ListStreams", b"[]", "SerializationException"),
        ("Kinesis_20131202.ListStreams", b'{"Limit":"x"}', "SerializationException"),
        ("Kinesis_20131202.ListStreams", b'{"Limit":99999999999}', "SerializationException"),
        ("Kinesis_20131202.CreateStream", b'{"StreamName":"a/b"}', "ValidationException"),
        ("Kinesis_20131202.CreateStream", b'{"StreamName":"ab"}', "ValidationException"),
        ("Kinesis_20131202.Nothing", b"{}", "UnknownOperationException"),
        ("nonsense", b"{}", "UnknownOperationException"),
        (
            "Kinesis_20131202.PutRecord",
            b'{"StreamName":"given","PartitionKey":"k","Data":"%%%"}',
            "SerializationException",
        ),
    ],
)
def test_what_cannot_be_understood_is_refused(
    endpoint: str, target: str, body: bytes, code: str
) -> None:
    assert post(endpoint, target, body) == (400, code, code)


def test_broken_cbor_is_refused(endpoint: str) -> None:
    status, error, _ = post(endpoint, "Kinesis_20131202.ListStreams", b"\xff\x00\x9f", "cbor")
    assert (status, error) == (400, "SerializationException")


def test_health(endpoint: str) -> None:
    connection = http.client.HTTPConnection(endpoint.removeprefix("http://"), timeout=10)
    connection.request("GET", "/_simulator/health")
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())) == (200, {"status": "ok"})
    connection.close()


def test_a_taken_port_is_an_error_and_no_hang(endpoint: str) -> None:
    java = shutil.which("java")
    assert java
    port = endpoint.rsplit(":", 1)[1]
    command = [java, "-cp", class_path(), "sparkkinesis.simulator.Main", "--port", port]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode != 0
    assert "in use" in ended.stderr


def test_bad_arguments_are_explained() -> None:
    java = shutil.which("java")
    assert java
    command = [java, "-cp", class_path(), "sparkkinesis.simulator.Main", "--stream", "no-count"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode == 2
    assert "--stream no-count" in ended.stderr
