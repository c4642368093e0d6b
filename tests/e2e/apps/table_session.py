"""Writes a stream to tables with the code of a page, and kills itself in between. Run by a test.

Arguments: a file with the code, and a folder. For each way to write, the program dies once
between the write of a batch and the note in the checkpoint. It prints what is in the tables, as
JSON in the last line, when it has died often enough.
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

from pyspark.sql import functions

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

IDENTITY = ("stream", "shardId", "sequenceNumber", "subSequenceNumber")
DEADLY = 1  # the number of the batch


class Death:
    """The death of one way to write: when the deadly batch is written, and not noted yet."""

    def __init__(self, way: str, folder: Path, jvm: int) -> None:
        """Take the folder of the test, and the process of Spark."""
        self.jvm = jvm
        self.commits = folder / "checkpoints" / way / "commits"
        self.marker = folder / f"died-{way}-{DEADLY}"

    def after(self, write: Callable[[DataFrame, int], None]) -> Callable[[DataFrame, int], None]:
        """A function for `foreachBatch` that dies when it has written the deadly batch."""

        def write_and_die(batch: DataFrame, batch_id: int) -> None:
            write(batch, batch_id)
            if batch_id == DEADLY and not self.marker.exists():
                assert not self._is_noted()
                self._die()

        return write_and_die

    def watch(self, sink: Path, pattern: str, before: int) -> None:
        """Die when the sink has committed the deadly batch, and the checkpoint has not noted it.

        The pattern finds one file per commit of the sink, and so many more before the first batch.
        """

        def look() -> None:
            while not self.marker.exists():
                if len(list(sink.glob(pattern))) == before + DEADLY + 1 and not self._is_noted():
                    os.kill(self.jvm, signal.SIGSTOP)  # so that the answer stays true
                    if not self._is_noted():
                        self._die()
                    os.kill(self.jvm, signal.SIGCONT)
                time.sleep(0.001)

        threading.Thread(target=look, daemon=True).start()

    def _is_noted(self) -> bool:
        return (self.commits / str(DEADLY)).exists()

    def _die(self) -> None:
        self.marker.touch()
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
        death = Death(way, folder, jvm)
        names["deadly"] = death.after
        if "foreachBatch" not in fence:
            death.watch(folder / code["sink"].replace("WAY", way), code["commits"], code["before"])

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
            "files": files_of(rows),
        }
        for statement in code["compact"]:
            spark.sql(statement.replace("WAY", way)).collect()
        compacted = spark.table(table)
        found[way]["compacted"] = [compacted.count(), files_of(compacted)]
    print(json.dumps(found))


def files_of(rows: DataFrame) -> int:
    """The number of files that have the rows."""
    return rows.select(functions.input_file_name()).distinct().count()


if __name__ == "__main__":
    main(*sys.argv[1:])
