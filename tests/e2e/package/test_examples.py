"""The programs in `examples/`, run as their docstrings say."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest

from spark_kinesis import jar_path
from spark_kinesis.local import LocalKinesis
from tests.e2e.support.programs import run

pytestmark = pytest.mark.spark4

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
PIPELINE = EXAMPLES / "pipeline.py"
SPARK_SUBMIT = Path(sys.executable).with_name("spark-submit")
KEYS = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
ORDERS = 60


@pytest.mark.slow  # starts Spark again
def test_the_pipeline_writes_each_customers_total(tmp_path: Path) -> None:
    events, other = tmp_path / "events", tmp_path / "other.jar"
    events.mkdir()
    with zipfile.ZipFile(other, "w") as jar:
        jar.writestr("other.txt", "of the user")
    with LocalKinesis(streams={"orders": 2, "totals": 1}) as kinesis:
        client = client_of(kinesis.endpoint)
        put_orders(client)
        command = [str(SPARK_SUBMIT), "--master", "local[2]", "--jars", f"{other},{jar_path()}"]
        command += [
            "--conf",
            "spark.eventLog.enabled=true",
            "--conf",
            "spark.eventLog.compress=false",
        ]
        command += ["--conf", f"spark.eventLog.dir={events.as_uri()}", str(PIPELINE)]
        environment = {**os.environ, **KEYS}
        command += ["--region", "us-east-1", "--endpoint", kinesis.endpoint]
        command += ["--read", "orders", "--write", "totals", "--once"]
        run([*command, "--checkpoint", str(tmp_path / "checkpoint")], cwd=tmp_path, env=environment)
        last = totals(client)
    assert {key: total["orders"] for key, total in last.items()} == {"c0": 20, "c1": 20, "c2": 20}
    assert all(total["amount"] == 30.0 for total in last.values())
    assert {other.name, Path(jar_path()).name} <= jars_added(events)


@pytest.mark.slow
def test_each_minute_is_written_when_it_is_over_also_after_a_downtime(tmp_path: Path) -> None:
    command = [str(SPARK_SUBMIT), "--master", "local[2]", "--jars", jar_path()]
    command += ["--conf", "spark.sql.shuffle.partitions=2"]  # by default 200, of files each
    command += [str(EXAMPLES / "watermark.py"), "--once", "--read", "orders"]
    command += ["--region", "us-east-1", "--output", str(tmp_path / "minutes")]
    command += ["--checkpoint", str(tmp_path / "checkpoint")]
    with LocalKinesis(streams={"orders": 2}) as kinesis:
        for counts in ((3, 4, 5), (6, 60, 7, 8)):
            for count in counts:
                kinesis.put("orders", [(f"c{n}", "order") for n in range(count)])
                kinesis.advance(timedelta(minutes=5))
            endpoint = ["--endpoint", kinesis.endpoint]
            run([*command, *endpoint], cwd=tmp_path, env={**os.environ, **KEYS})
    files = (tmp_path / "minutes").glob("*.json")
    minutes = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    # The last minute is not over yet: no record came after it.
    ordered = sorted(minutes, key=lambda minute: minute["minute"])
    assert [minute["records"] for minute in ordered] == [3, 4, 5, 6, 60, 7]
    assert {minute["stream"] for minute in minutes} == {"orders"}


def client_of(endpoint: str) -> Any:
    return boto3.client(
        "kinesis",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )


def put_orders(client: Any) -> None:
    for n in range(ORDERS):
        order = {"customer": f"c{n % 3}", "amount": 1.5}
        client.put_record(
            StreamName="orders", Data=json.dumps(order).encode(), PartitionKey=f"c{n % 3}"
        )


def totals(client: Any) -> dict[str, Any]:
    """The last total of each customer."""
    iterator = client.get_shard_iterator(
        StreamName="totals", ShardId="shardId-000000000000", ShardIteratorType="TRIM_HORIZON"
    )["ShardIterator"]
    records = client.get_records(ShardIterator=iterator)["Records"]
    return {record["PartitionKey"]: json.loads(record["Data"]) for record in records}


def jars_added(events: Path) -> set[str]:
    """The names of the jars that the application gave to its executors."""
    lines = [line for log in events.rglob("events_*") for line in log.read_text().splitlines()]
    told = [event for event in map(json.loads, lines) if "Classpath Entries" in event]
    return {
        entry.rpartition("/")[2]
        for event in told
        for entry, who in event["Classpath Entries"].items()
        if who == "Added By User"
    }
