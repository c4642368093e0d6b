"""Draws docs/how-to/watch-notebook.png: what `spark_kinesis.watch` shows in a notebook.

Run it with the package installed: `.venv/bin/python docs/site/notebook_picture.py`.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient

TARGET = Path(__file__).resolve().parents[1] / "how-to" / "watch-notebook.png"
CELLS = (
    """
import tempfile
from datetime import timedelta
from pyspark.sql import SparkSession
from spark_kinesis import KinesisSource, watch, with_kinesis
from spark_kinesis.local import LocalKinesis

kinesis = LocalKinesis(streams={"orders": 2}).start()
spark = with_kinesis(SparkSession.builder.master("local[2]")).getOrCreate()
source = KinesisSource(stream_name="orders", starting_position="trim_horizon", **kinesis.access)
writer = source.read_stream(spark).writeStream.format("noop").queryName("orders")
query = writer.option("checkpointLocation", tempfile.mkdtemp()).start()
""",
    """
view = watch(query, retention=timedelta(days=1), interval=timedelta(seconds=1))
for second in range(24):
    if second == 12:
        kinesis.split("orders")
    kinesis.put("orders", [f"order {n}" for n in range(200 + 40 * (second % 8))])
    view.wait(timedelta(seconds=1))
while view.snapshot.totals.lag:
    view.wait(timedelta(milliseconds=100))
query.stop()
view.wait(timedelta(minutes=1))
""",
    "spark.stop(); kinesis.stop()",
)


def main() -> None:
    """Run a notebook whose query is resharded, and keep the last picture."""
    cells: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": it.strip(),
        }
        for it in CELLS
    ]
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    notebook = nbformat.from_dict(document)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    shown = "".join(
        output.data["text/html"]
        for output in notebook.cells[1].outputs
        if output.output_type == "display_data"
    )
    found = re.search(r"data:image/png;base64,([A-Za-z0-9+/=\s]+)", shown)
    if found is None:
        raise SystemExit("the notebook shows no picture")
    TARGET.write_bytes(base64.b64decode(found[1]))


if __name__ == "__main__":
    main()
