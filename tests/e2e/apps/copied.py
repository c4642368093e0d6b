"""A query that copies a stream, and stops when it is asked to. Run by a test, more than once.

Arguments: endpoint, name of the source, name of the target, a kind, a folder. The kind is "once",
on a cluster with exactly once, or "terminated", in one process with a handler of SIGTERM. Runs
until there is a file `stop`, or until SIGTERM.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

from spark_kinesis import (
    KinesisSink,
    KinesisSource,
    TrimHorizon,
    stop_gracefully,
    stop_on_sigterm,
)
from tests.e2e.support.cluster import cluster_session, new_session
from tests.e2e.support.programs import tell
from tests.e2e.support.streams import LOCAL, REGION

ONCE: dict[str, Any] = {
    "aggregation": "kpl",
    "delivery_guarantee": "exactly_once",
    "max_aggregate_records": 20,
}
PATIENCE = timedelta(minutes=3)


def main(endpoint: str, source: str, target: str, kind: str, name: str) -> None:
    """Run until the test ends the program."""
    folder = Path(name)
    is_once = kind == "once"
    connection: dict[str, Any] = {"region": REGION, "endpoint": endpoint, "credentials": LOCAL}
    reads = KinesisSource(stream_name=source, starting_position=TrimHorizon(), **connection)
    writes = KinesisSink(stream_name=target, **connection, **(ONCE if is_once else {}))
    with ExitStack() as stack:
        spark = stack.enter_context(
            cluster_session(executors=2) if is_once else new_session("local[2]", {})
        )
        rows = reads.read_stream(spark).select("partitionKey", "data")
        query = writes.write_stream(rows, checkpoint_location=folder / "checkpoint").start()
        if not is_once:
            stop_on_sigterm(spark, PATIENCE)
        tell(spark, folder)
        while query.isActive and not query.awaitTermination(1):
            if (folder / "stop").exists():
                assert stop_gracefully(query, PATIENCE)


if __name__ == "__main__":
    main(*sys.argv[1:])
