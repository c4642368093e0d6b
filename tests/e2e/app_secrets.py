"""Uses made-up secrets with every log at DEBUG, and prints plans. Run by a test.

Arguments: endpoint, stream, checkpoint folder, access key, secret key, session token.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cluster import cluster_session, executor_logs
from harness import REGION, Collector, running, wait_for

from spark_kinesis import KinesisSink, KinesisSource, StaticCredentials, TrimHorizon

LOGGING = Path(__file__).resolve().with_name("debug-log4j2.properties")


def main(endpoint: str, stream: str, checkpoint: str, key: str, secret: str, token: str) -> None:
    """Write, read, explain."""
    spark = cluster_session(executors=1, logging=LOGGING)
    spark.sparkContext.setLogLevel("DEBUG")
    application = spark.sparkContext.applicationId
    keys = StaticCredentials(access_key_id=key, secret_access_key=secret, session_token=token)
    sink = KinesisSink(stream_name=stream, region=REGION, endpoint=endpoint, credentials=keys)
    sink.save(
        spark.createDataFrame([("k", '{"key": "k", "n": 0}')], "partitionKey string, data string")
    )
    source = KinesisSource(
        stream_name=stream,
        region=REGION,
        endpoint=endpoint,
        credentials=keys,
        starting_position=TrimHorizon(),
    )
    source.load(spark).explain(extended=True)
    print(source, sink)
    collector = Collector()
    with running(spark, source, Path(checkpoint), collector) as query:
        wait_for("the row", lambda: len(collector.rows) > 0)
        query.explain(extended=True)
        print(query.lastProgress)
    wrong = KinesisSource(stream_name="nowhere", region=REGION, endpoint=endpoint, credentials=keys)
    try:
        with running(spark, wrong, Path(checkpoint + "-wrong"), collector) as query:
            query.awaitTermination(60)
    except Exception as error:  # noqa: BLE001 whatever it is, its text is what we look at
        print(f"refused: {error}")
    spark.stop()
    print(f"executors:\n{executor_logs(application)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
