"""The README: its tables say what the code does, and it stays short."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from log_processing import events
from log_processing.settings import Settings, read_settings

FOLDER = Path(__file__).resolve().parents[1]
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")
MOST_LINES = 150


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without the table's own head."""
    section = re.split(rf"^##+ {re.escape(heading)}$", PAGE, flags=re.MULTILINE)[1]
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    if table is None:
        raise ValueError(heading)
    lines = table[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_it_is_short() -> None:
    assert len(PAGE.splitlines()) <= MOST_LINES


def test_it_names_the_options_and_their_defaults() -> None:
    documented = {
        name: row[1] for row in rows("Options") for name in re.findall(r"`(--.*?)`", row[0])
    }
    fields = {"--" + it.name.replace("_", "-"): it for it in dataclasses.fields(Settings)}
    assert set(documented) == set(fields)
    required = [name for name, it in fields.items() if it.default is dataclasses.MISSING]
    settings = read_settings([word for name in required for word in (name, "x")])
    for name, it in fields.items():
        value = getattr(settings, it.name)
        if name not in required and value:
            text = f"{value:g}" if isinstance(value, float) else str(value)
            assert documented[name] == f"`{text}`", name


def test_it_names_the_reasons_of_bad_events() -> None:
    assert [row[0].strip("`") for row in rows("Bad events")] == list(events.REASONS)
