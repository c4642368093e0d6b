"""The notebooks in `examples/notebooks`, run as Jupyter does."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.docs.pages import masked

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))
MOST_BYTES = 60_000
PLACE = re.compile(r"/(tmp|home|root|work|Users|var)/|[A-Z]:\\|127\.0\.0\.1:\d")


def read(file: Path) -> Any:
    return nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]


def outputs(book: Any) -> list[Any]:
    return [it for cell in book.cells if cell.cell_type == "code" for it in cell.outputs]


def shown(book: Any) -> list[tuple[int, str, str]]:
    """What each code cell shows: its position, the kind of output, and the text without times."""
    found: list[tuple[int, str, str]] = []
    for position, cell in enumerate(book.cells):
        for it in cell.get("outputs", []):
            text = it.get("text") or it.get("data", {}).get("text/plain", "")
            kind = it.get("name", it.output_type)
            if found and found[-1][:2] == (position, kind):  # a stream arrives in pieces
                text = found.pop()[2] + text
            if kind != "stderr":
                found.append((position, kind, masked(text)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda it: it.stem)
def test_a_notebook_runs_and_shows_what_is_saved(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    book = read(file)
    saved = shown(book)
    NotebookClient(
        book, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    assert shown(book) == saved


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
