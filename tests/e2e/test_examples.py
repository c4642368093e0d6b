"""The programs in `examples/`, run as their words say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import boto3

from spark_kinesis.local import LocalKinesis

ROOT = Path(__file__).resolve().parents[2]
KEYS = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
ORDERS = 60


def test_the_pipeline_writes_each_customers_total(tmp_path: Path) -> None:
    with LocalKinesis(streams={"orders": 2, "totals": 1}) as kinesis:
        client = boto3.client(
            "kinesis",
            endpoint_url=kinesis.endpoint,
            region_name="us-east-1",
            aws_access_key_id="local",
            aws_secret_access_key="local",
        )
        for n in range(ORDERS):
            order = {"customer": f"c{n % 3}", "amount": 1.5}
            client.put_record(
                StreamName="orders", Data=json.dumps(order).encode(), PartitionKey=f"c{n % 3}"
            )
        arguments = ["--endpoint", kinesis.endpoint, "--region", "us-east-1", "--once"]
        ended = subprocess.run(
            [
                sys.executable,
                str(ROOT / "examples" / "pipeline.py"),
                *arguments,
                "--checkpoint",
                str(tmp_path / "checkpoint"),
            ],
            env={**os.environ, **KEYS},
            timeout=240,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-6000:]
        iterator = client.get_shard_iterator(
            StreamName="totals", ShardId="shardId-000000000000", ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        records = client.get_records(ShardIterator=iterator)["Records"]

    last = {record["PartitionKey"]: json.loads(record["Data"]) for record in records}
    assert {key: total["orders"] for key, total in last.items()} == {"c0": 20, "c1": 20, "c2": 20}
    assert all(total["amount"] == 30.0 for total in last.values())
