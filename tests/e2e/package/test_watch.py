"""`spark_kinesis.watch`: with a query of a notebook, which is then opened in a browser."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from spark_kinesis import watch
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.top import Outlook
from tests.docs.chromium import Browser, opened_browser
from tests.e2e.support.streams import REGION

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from tests.e2e.support.streams import Stream

CELLS = [
    """
import tempfile
from datetime import timedelta
from pyspark.sql import SparkSession
from spark_kinesis import KinesisSource, watch, with_kinesis
from spark_kinesis.local import LocalKinesis

kinesis = LocalKinesis(streams={"orders": 2}).start()
spark = with_kinesis(SparkSession.builder.master("local[2]")).getOrCreate()
source = KinesisSource(stream_name="orders", starting_position="trim_horizon", **kinesis.access)
kinesis.put("orders", [f"order {n}" for n in range(500)])
checkpoint = tempfile.mkdtemp()
""",
    """
writer = source.read_stream(spark).writeStream.format("noop").queryName("orders")
query = writer.option("checkpointLocation", checkpoint).start()
view = watch(query, interval=timedelta(milliseconds=500))
query.processAllAvailable()
kinesis.split("orders")
kinesis.put("orders", [f"order {n}" for n in range(500)])
while len(view.snapshot.shards) < 3 or view.snapshot.lag:
    assert not view.wait(timedelta(milliseconds=100))
query.stop()
assert view.wait(timedelta(minutes=2))
""",
    "spark.stop(); kinesis.stop()",
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from opened_browser(tmp_path_factory.mktemp("profile"))


@pytest.mark.slow
@pytest.mark.spark4
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Jupyter's own packages
def test_a_notebook_keeps_the_last_table(browser: Browser, tmp_path: Path) -> None:
    new: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    cells = [{**new, "source": it.strip()} for it in CELLS]
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    notebook = nbformat.from_dict(document)  # type: ignore[no-untyped-call]
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env={**os.environ, "TERM": "dumb"})
    html = shown(notebook.cells[1])
    assert "Stopped" in html
    assert "The query has caught up." in html
    assert "3 shards read" in html
    exporter = HTMLExporter(  # type: ignore[no-untyped-call]
        mathjax_url="", require_js_url="", jquery_url=""
    )
    page, _ = exporter.from_notebook_node(notebook)
    (tmp_path / "notebook.html").write_text(page)
    browser.open((tmp_path / "notebook.html").as_uri())
    browser.wait_for("document.readyState === 'complete'")
    assert "The query has caught up." in browser.evaluate("document.body.innerText")


def shown(cell: Any) -> str:
    """The only table below a cell."""
    (output,) = [it for it in cell.outputs if it.output_type == "display_data"]
    html: str = output.data["text/html"]
    assert output.data["text/plain"].startswith("20")
    return html


def test_the_figures_of_a_running_query(
    spark: SparkSession,
    new_stream: Callable[..., Stream],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stream = new_stream(2)
    stream.put(300)
    rows = stream.source(starting_position="trim_horizon").read_stream(spark)
    query = rows.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start()
    try:
        view = watch(query, interval=timedelta(milliseconds=200))
        query.processAllAvailable()
        while view.snapshot.batch is None or view.snapshot.lag != timedelta():
            assert not view.wait(timedelta(milliseconds=50)), "the view ended"
        outside = from_outside(stream, tmp_path, capsys)
    finally:
        query.stop()
    assert view.wait(timedelta(minutes=1))
    found = view.snapshot
    assert found.status == "Stopped"
    assert found.forecast.outlook is Outlook.CAUGHT_UP
    assert len(found.shards) == 2
    assert found.batch is not None
    assert [it["lag"] for it in outside["shards"]] == [0, 0]
    assert outside["batch"]["number"] == found.batch.number


def from_outside(
    stream: Stream, checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> dict[str, Any]:
    """What `top` says about the same query."""
    assert "2 shards read" in capsys.readouterr().out
    words = ["--checkpoint", str(checkpoint), "--endpoint", stream.endpoint, "--region", REGION]
    assert run(["top", *words, "--once", "--json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    found: dict[str, Any] = next(json.loads(it) for it in lines if it.startswith("{"))
    return found
