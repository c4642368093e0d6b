"""The notebooks in `examples/notebooks`, run as Jupyter does."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))
MOST_BYTES = 60_000
PLACE = re.compile(r"/(tmp|home|root|work|Users|var)/|[A-Z]:\\|127\.0\.0\.1:\d")


def read(file: Path) -> Any:
    return nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]


def outputs(book: Any) -> list[Any]:
    return [it for cell in book.cells if cell.cell_type == "code" for it in cell.outputs]


@pytest.mark.slow
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda it: it.stem)
def test_a_notebook_runs(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    book = read(file)
    kinds = [it.output_type for it in outputs(book)]
    NotebookClient(
        book, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    said = [it for it in outputs(book) if it.get("name") != "stderr"]
    assert [it.output_type for it in said] == kinds


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda it: it.stem)
def test_what_a_notebook_shows_is_small_and_names_no_place(file: Path) -> None:
    book = read(file)
    nbformat.validate(book)
    assert file.stat().st_size < MOST_BYTES
    shown = outputs(book)
    assert shown, "run the notebook before you save it"
    assert not [it for it in shown if it.output_type == "error" or it.get("name") == "stderr"]
    texts = [
        str(it.get("text", "")) + str(it.get("data", {}).get("text/plain", "")) for it in shown
    ]
    assert not [text for text in texts if PLACE.search(text)]


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 4
