"""Queries that each copy a stream, on a standalone cluster. Run by a test, more than once.

Arguments: address of the master, endpoint, place of the checkpoints, a folder. The folder has a
file `copies.json`: a list with source, target, how to read, whether to write exactly once, and
whether to drop rows that were written twice, which needs a state. It may have a file `spark.json`
with settings, and a file `options.json` with more options of all sources and sinks. Runs until
there is a file `stop`. Then it stops each query between two batches.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from spark_kinesis import AssumeRole, KinesisSink, stop_gracefully
from tests.e2e.apps.copied import ONCE, PATIENCE
from tests.e2e.support.cluster import new_session
from tests.e2e.support.programs import tell
from tests.e2e.support.streams import CONSUMERS, LOCAL, REGION, source_of

SETTINGS = {"spark.executor.memory": "900m", "spark.task.maxFailures": "20"}
# Of two equal rows in a batch, Spark keeps either: the place in the shard would be that of one.
NUMBER = "cast(get_json_object(cast(data AS string), '$.n') AS bigint) AS position"


def main(master: str, endpoint: str, checkpoints: str, name: str) -> None:
    """Run until the test ends the program, or a query ends."""
    folder = Path(name)
    spark = new_session(master, SETTINGS | given(folder / "spark.json"))
    more = given(folder / "options.json")
    if role := more.pop("role", None):
        more["role"] = AssumeRole(**role)
    queries = []
    for source, target, mode, is_once, is_distinct in json.loads(
        (folder / "copies.json").read_text()
    ):
        options: dict[str, Any] = {"ordering": "per_key", **(ONCE if is_once else {})}
        options |= {"order_by": "position"} if is_distinct else {}
        sink = KinesisSink(
            stream_name=target,
            region=REGION,
            endpoint=endpoint,
            credentials=LOCAL,
            **options,
            **more,
        )
        rows = source_of(endpoint, source, consumer=CONSUMERS[mode], **more).read_stream(spark)
        if is_distinct:
            rows = rows.dropDuplicates(["partitionKey", "data"])
            rows = rows.selectExpr("partitionKey", "data", NUMBER)
        else:
            rows = rows.select("partitionKey", "data")
        place = f"{checkpoints}/{target}"
        queries.append(sink.write_stream(rows, checkpoint_location=place).start())
    tell(spark, folder)
    while not (folder / "stop").exists():
        time.sleep(0.5)
        for query in queries:
            if not query.isActive:
                raise RuntimeError(f"a query has ended: {query.exception()}")
    for query in queries:
        assert stop_gracefully(query, PATIENCE)
    spark.stop()


def given(file: Path) -> dict[str, Any]:
    """The values of a file, or none if it does not exist."""
    return dict(json.loads(file.read_text())) if file.exists() else {}


if __name__ == "__main__":
    main(*sys.argv[1:])
