"""Adds every decision record to the site's navigation: a new record needs no line in mkdocs.yml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PATTERN = "adr/*.md"


def on_config(config: Any) -> None:
    """Replace the pattern in the navigation by the files that it matches."""
    folder = Path(config.docs_dir)
    files = sorted(str(file.relative_to(folder)) for file in folder.glob(PATTERN))
    (explanation,) = (entry["Explanation"] for entry in config.nav if "Explanation" in entry)
    for entry in explanation:
        if entry == {"Decisions": PATTERN}:
            entry["Decisions"] = files
