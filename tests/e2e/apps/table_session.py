"""Writes a stream to tables with the code of a page, and kills itself in between. Run by a test.

Arguments: a file with the code, and a folder. For each way to write and each deadly batch, the
program dies once between the write of the batch and the note in the checkpoint. It prints what is
in the tables, as JSON in the last line, when it has died often enough.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

IDENTITY = ("stream", "shardId", "sequenceNumber", "subSequenceNumber")


class Deaths:
    """The deaths of one way to write: each of the deadly batches is killed once."""

    def __init__(self, way: str, batches: list[int], folder: Path, jvm: int) -> None:
        """Take the deadly batches, the folder of the test, and the process of Spark."""
        self.way, self.batches, self.folder, self.jvm = way, batches, folder, jvm
        self.commits = folder / "checkpoints" / way / "commits"

    def committed(self) -> int:
        """The number of batches that the checkpoint notes."""
        return len(list(self.commits.glob("[0-9]*")))

    def after(self, write: Callable[[DataFrame, int], None]) -> Callable[[DataFrame, int], None]:
        """A function for `foreachBatch` that dies when it has written a deadly batch."""

        def write_and_die(batch: DataFrame, batch_id: int) -> None:
            write(batch, batch_id)
            if self._is_due(batch_id):
                self._die(batch_id)

        return write_and_die

    def watch(self, sink: Path, pattern: str, before: int) -> None:
        """Die when the sink has committed a deadly batch, and the checkpoint has not noted it.

        The pattern finds one file per commit of the sink, and so many more before the first batch.
        """

        def look() -> None:
            while True:
                batch = len(list(sink.glob(pattern))) - before - 1
                if self._is_due(batch) and self.committed() <= batch:
                    os.kill(self.jvm, signal.SIGSTOP)  # so that the answer stays true
                    if self.committed() <= batch:
                        self._die(batch)
                    os.kill(self.jvm, signal.SIGCONT)
                time.sleep(0.001)

        threading.Thread(target=look, daemon=True).start()

    def _is_due(self, batch: int) -> bool:
        return batch in self.batches and not self._marker(batch).exists()

    def _marker(self, batch: int) -> Path:
        return self.folder / f"died-{self.way}-{batch}"

    def _die(self, batch: int) -> None:
        assert self.committed() <= batch
        self._marker(batch).touch()
        os.kill(self.jvm, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)


def main(script: str, name: str) -> None:
    """Write all that has arrived, in each way."""
    folder = Path(name)
    code = json.loads(Path(script).read_text("utf-8"))
    found: dict[str, Any] = {}
    names: dict[str, Any] = {}
    for way, fence in code["ways"].items():
        exec(code["session"].replace("WAY", way), names)  # noqa: S102 it is the page's own code
        spark = names["spark"]
        spark.sparkContext.setLogLevel("ERROR")
        jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
        deaths = Deaths(way, code["deadly"], folder, jvm)
        names["deadly"] = deaths.after
        if "foreachBatch" not in fence:
            deaths.watch(folder / code["sink"].replace("WAY", way), code["commits"], code["before"])

        table = code["table"].replace("WAY", way)
        before = spark.table(table).count() if code["before"] else 0
        exec(fence.replace("WAY", way), names)  # noqa: S102
        names["query"].awaitTermination()
        found[way] = {"before": before, "cached": spark.table(table).count()}
        for statement in code["refresh"]:
            spark.sql(statement.replace("WAY", way))
        rows = spark.table(table)
        found[way] |= {
            "rows": rows.count(),
            "distinct": rows.select(*IDENTITY).distinct().count(),
            "files": len(rows.inputFiles()),
        }
        for statement in code["compact"]:
            spark.sql(statement.replace("WAY", way)).collect()
        compacted = spark.table(table)
        found[way]["compacted"] = [compacted.count(), len(compacted.inputFiles())]
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
