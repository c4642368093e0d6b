"""A query whose executors have another jar of the connector, or none. Run by a test.

Arguments: endpoint, name of a stream, a folder, the jar of the executors or nothing. Prints the
error that ended the query as JSON in the last line.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from spark_kinesis import jar_path
from tests.e2e.support.cluster import HOME, work_folder
from tests.e2e.support.harness import Collector, Reading, running
from tests.e2e.support.streams import LOCAL, PATIENCE_SECONDS, REGION


def main(endpoint: str, stream: str, folder: str, executors_jar: str = "") -> None:
    """Run a query until it fails."""
    options = {
        "streamName": stream,
        "region": REGION,
        "endpoint": endpoint,
        "awsAccessKeyId": LOCAL.access_key_id,
        "awsSecretAccessKey": LOCAL.secret_access_key,
        "startingPosition": "trim_horizon",
    }
    os.environ["SPARK_HOME"] = str(HOME)
    builder = (
        SparkSession.Builder()
        .master("local-cluster[1,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.extraClassPath", jar_path())
        .config("spark.executor.extraClassPath", executors_jar)
    )
    spark = builder.getOrCreate()
    work = work_folder(spark.sparkContext.applicationId)
    try:
        print(json.dumps(failure(spark, Reading(options), Path(folder))))
    finally:
        spark.stop()
        shutil.rmtree(work)


def failure(spark: SparkSession, reading: Reading, folder: Path) -> str:
    """Why a query failed."""
    with running(spark, reading, folder / "checkpoint", Collector()) as query:
        try:
            query.awaitTermination(int(PATIENCE_SECONDS))
        except StreamingQueryException as ended:
            return str(ended)
    return "none"


if __name__ == "__main__":
    main(*sys.argv[1:])
