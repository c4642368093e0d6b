"""A session that is stopped while its queries run, one busy and one idle. Run by a test.

Arguments: endpoint, a folder. Prints the threads that were there, and those that stay, as JSON.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.e2e.apps.cluster_queries import load
from tests.e2e.support.cluster import new_session
from tests.e2e.support.harness import Collector
from tests.e2e.support.streams import Stream, wait_for

if TYPE_CHECKING:
    from py4j.java_gateway import JVMView
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

CLIENT_THREADS = ("spark-kinesis-interrupts", "spark-kinesis-timer")


def main(endpoint: str, name: str) -> None:
    """Run and stop two sessions in one JVM."""
    said = []
    for turn in ("first", "second"):
        spark = new_session("local[2]", {})
        jvm = spark._jvm
        assert jvm is not None
        busy, idle = Stream(endpoint), Stream(endpoint)
        for stream in (busy, idle):
            stream.put(40)
            start(spark, stream, Path(name) / f"{turn}-{stream.name}")
        before = ours(jvm)
        with load(busy):
            busy.put(400)
            spark.stop()
        with suppress(TimeoutError):  # the threads left are printed below
            wait_for("its threads end", partial(is_quiet, jvm))
        said.append({"before": before, "after": ours(jvm)})
        print(f"the {turn} session is over", file=sys.stderr, flush=True)
    print(json.dumps(said))


def start(spark: SparkSession, stream: Stream, checkpoint: Path) -> StreamingQuery:
    """Start a query, and wait until it has read records."""
    collector = Collector()
    writer = stream.source().read_stream(spark).writeStream.foreachBatch(collector)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    collector.wait(query, stream.written)
    return query


def is_quiet(jvm: JVMView) -> bool:
    """Whether none of these threads is left."""
    return not ours(jvm)


def ours(jvm: JVMView) -> list[str]:
    """The threads of the connector and of queries. Those of clients, which stay, do not count."""
    threads = jvm.java.lang.Thread.getAllStackTraces().keySet()
    names = sorted(thread.getName() for thread in threads)
    mine = [name for name in names if name.startswith(("spark-kinesis", "stream execution"))]
    return [name for name in mine if name not in CLIENT_THREADS]


if __name__ == "__main__":
    main(*sys.argv[1:])
