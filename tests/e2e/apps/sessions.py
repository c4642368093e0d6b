"""Several queries on one stream: in one session, in a new one, in a clone. Run by a test.

Arguments: endpoint, a folder. Prints what happened and the verdicts as JSON in the last line.
"""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from tests.e2e.support.cluster import cluster_session
from tests.e2e.support.harness import Collector, drain, running
from tests.e2e.support.streams import Stream
from tests.e2e.support.verdict import verdict

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


def main(endpoint: str, folder: str) -> None:
    """Run on a cluster, and print the result."""
    with cluster_session(executors=2) as spark:
        said = run(spark, Stream(endpoint, shards=4), Path(folder))
    print(json.dumps(said))


def run(spark: SparkSession, stream: Stream, folder: Path) -> dict[str, Any]:
    """Run four queries, and stop the first one in the middle."""
    clone = spark._jsparkSession.cloneSession()
    sessions = {
        "one": spark,
        "two": spark,
        "new": spark.newSession(),
        "clone": SparkSession(spark.sparkContext, clone),
    }
    collectors = {name: Collector() for name in sessions}
    with ExitStack() as open_queries:
        queries = {
            name: open_queries.enter_context(
                running(session, stream.source(), folder / name, collectors[name])
            )
            for name, session in sessions.items()
        }
        for _ in range(5):
            stream.put(400)
        said = {"one": wait_all(stream, queries, collectors).pop("one")}
        throttled = sum(throttles(query) for query in queries.values())
        queries.pop("one").stop()
        stream.put(400)
        said |= wait_all(stream, queries, collectors)
    return {"throttled": throttled, "verdicts": said}


def wait_all(
    stream: Stream, queries: dict[str, StreamingQuery], collectors: dict[str, Collector]
) -> dict[str, dict[str, int]]:
    """Wait until each query has all records. Returns the verdicts."""
    for name, query in queries.items():
        drain(stream, query, collectors[name])
    return {name: verdict(stream.written, collectors[name].numbered()) for name in queries}


def throttles(query: StreamingQuery) -> int:
    """The number of its requests that were throttled."""
    progress = query.lastProgress
    metrics: dict[str, str] = progress["sources"][0]["metrics"] if progress else {}
    return int(metrics.get("throttledRequests", "0"))


if __name__ == "__main__":
    main(*sys.argv[1:])
