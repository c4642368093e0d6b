"""Uses invented secrets with every log at DEBUG, and prints plans. Run by a test.

Arguments: endpoint, two streams, checkpoint folder. Real-time mode copies the first stream into the
second one, if this Spark has the mode.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from spark_kinesis import (
    AssumeRole,
    EnhancedFanOut,
    KinesisSink,
    KinesisSource,
    StaticCredentials,
    TrimHorizon,
)
from tests.e2e.support.cluster import cluster_session, executor_logs
from tests.e2e.support.harness import Collector, running
from tests.e2e.support.real_time import HAS_REAL_TIME, LONG, real_time, real_time_settings
from tests.e2e.support.roles import token_service
from tests.e2e.support.streams import REGION, wait_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOGGING = Path(__file__).resolve().with_name("debug-log4j2.properties")
KEY = "AKIAMADEUPKEYID00001"
SECRET = "made/up+secret+0123456789abcdefghijklmno"
TOKEN = "MadeUpSessionToken//0123456789abcdefghijklmnopqrstuvwxyz"
EXTERNAL_ID = "made-up-external-id-0123456789"


def main(endpoint: str, stream: str, target: str, checkpoint: str) -> None:
    """Write, read, explain, fail; then print the logs of the executors."""
    with token_service() as sts:
        run(endpoint, sts, stream, target, checkpoint)


def run(endpoint: str, sts: str, stream: str, target: str, checkpoint: str) -> None:
    """The same, with a token service."""
    keys = StaticCredentials(access_key_id=KEY, secret_access_key=SECRET, session_token=TOKEN)
    sink = KinesisSink(stream_name=stream, region=REGION, endpoint=endpoint, credentials=keys)
    source = KinesisSource(
        stream_name=stream,
        region=REGION,
        endpoint=endpoint,
        credentials=keys,
        starting_position=TrimHorizon(),
    )
    pushed = replace(source, consumer=EnhancedFanOut(name="secrets"))
    wrong = KinesisSource(stream_name="nowhere", region=REGION, endpoint=endpoint, credentials=keys)
    role = AssumeRole(
        arn="arn:aws:iam::123456789012:role/reader",
        external_id=EXTERNAL_ID,
        sts_endpoint=endpoint,  # it does not answer as the token service does
    )
    in_no_role = replace(source, role=role)
    in_role = replace(source, role=replace(role, sts_endpoint=sts))
    live_sink = replace(sink, stream_name=target, role=replace(role, sts_endpoint=sts))
    print(source, sink, in_role, role, keys)
    conf = real_time_settings() if HAS_REAL_TIME else {}
    with cluster_session(executors=1, logging=LOGGING, conf=conf) as spark:
        spark.sparkContext.setLogLevel("DEBUG")
        application = spark.sparkContext.applicationId
        write_and_read(spark, sink, source, checkpoint)
        write_and_read(spark, sink, pushed, f"{checkpoint}-pushed")
        write_and_read(spark, sink, in_role, f"{checkpoint}-in-role")
        if HAS_REAL_TIME:
            copy_in_real_time(spark, replace(pushed, role=in_role.role), live_sink, checkpoint)
        refused(spark, wrong, f"{checkpoint}-wrong")
        refused(spark, in_no_role, f"{checkpoint}-in-no-role")
        spark.stop()
        print(f"executors:\n{executor_logs(application)}")


def write_and_read(
    spark: SparkSession, sink: KinesisSink, source: KinesisSource, checkpoint: str
) -> None:
    """Write and read a record, and print all plans."""
    rows = [("k", '{"key": "k", "n": 0}')]
    sink.write(spark.createDataFrame(rows, "partitionKey string, data string"))
    source.read_stream(spark).explain(extended=True)
    collector = Collector()
    with running(spark, source, Path(checkpoint), collector) as query:
        wait_for("the row", lambda: len(collector.rows) > 0)
        query.explain(extended=True)
        print(query.lastProgress)


def copy_in_real_time(
    spark: SparkSession, source: KinesisSource, sink: KinesisSink, checkpoint: str
) -> None:
    """Copy the records of a stream in one long batch, until they have arrived."""
    rows = source.read_stream(spark).select("partitionKey", "data")
    folder = f"{checkpoint}-real-time"
    query = real_time(sink.write_stream(rows, checkpoint_location=folder), spark, LONG).start()
    try:
        query.explain(extended=True)
        copied = KinesisSource(
            stream_name=sink.stream_name,
            region=REGION,
            endpoint=sink.endpoint,
            credentials=sink.credentials,
            starting_position=TrimHorizon(),
        )
        wait_for("the copies", lambda: copied.read(spark).count() > 0)
        print("copied in real time")
    finally:
        query.stop()


def refused(spark: SparkSession, source: KinesisSource, checkpoint: str) -> None:
    """Start a query that must fail."""
    source.read_stream(spark).explain(extended=True)
    try:
        with running(spark, source, Path(checkpoint), Collector()) as query:
            query.awaitTermination(60)
    except Exception as error:  # noqa: BLE001 the test checks its text
        print(f"refused: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
