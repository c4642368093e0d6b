"""The pages of the documentation that the code names exist."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDERS = ("connector-scala", "localstack", "python", "tests", "examples", "docs/site", "project")
# What builds and installs leave in these folders.
BUILT = {"target", "node_modules", ".venv"}
PAGE = re.compile(r"\bdocs/[\w/-]+(?:\.\w+)?")


def files(ending: str) -> Iterator[Path]:
    for top in FOLDERS:
        for folder, inner, names in os.walk(ROOT / top):
            inner[:] = set(inner) - BUILT
            yield from (Path(folder, name) for name in names if name.endswith(ending))


@pytest.mark.parametrize("ending", [".scala", ".py"])
def test_every_page_that_the_code_names_exists(ending: str) -> None:
    named = [
        (str(file.relative_to(ROOT)), page)
        for file in files(ending)
        for page in PAGE.findall(file.read_text(encoding="utf-8"))
    ]
    assert named
    assert [it for it in named if not (ROOT / it[1]).exists()] == []
