"""A query in real-time mode that copies a stream, on a cluster. Run by a test.

Arguments: endpoint, names of two streams that are there, how to read, a folder. Runs until there is
a file `stop`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from spark_kinesis import KinesisSink
from tests.e2e.support.cluster import cluster_session
from tests.e2e.support.programs import tell
from tests.e2e.support.real_time import LONG, real_time, real_time_settings
from tests.e2e.support.streams import CONSUMERS, LOCAL, REGION, source_of


def main(endpoint: str, stream: str, target: str, mode: str, name: str) -> None:
    """Run on a cluster until the test ends the program."""
    folder = Path(name)
    source = source_of(endpoint, stream, consumer=CONSUMERS[mode])
    sink = KinesisSink(
        stream_name=target,
        region=REGION,
        endpoint=endpoint,
        credentials=LOCAL,
        ordering="per_key",
    )
    with cluster_session(executors=3, conf=real_time_settings()) as spark:
        tell(spark, folder)
        rows = source.read_stream(spark).select("partitionKey", "data")
        writer = sink.write_stream(rows, checkpoint_location=folder / "checkpoint")
        query = real_time(writer, spark, LONG).start()
        while not (folder / "stop").exists() and not query.awaitTermination(1):
            pass
        query.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
