"""The screen that the documentation shows. ``UPDATE_GOLDEN=1`` writes it again."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

from rich.console import Console

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis._watch.screen import screen

from .given import name, seen, steps

DOCS = Path(__file__).parents[3] / "docs" / "how-to"
WIDTH = 110
# As rich's own, without fonts of another server.
SVG = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font: {char_height}px monospace; line-height: {line_height}px }}
.{unique_id}-title {{ font: bold 18px sans-serif }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def recorded() -> Console:
    """The screen of a query after a split, an hour behind."""
    waits = ShardOffset(progress=Progress.TRIM_HORIZON, waits_for=(name(1),))
    found = seen(
        {0: 3600.0, 1: 600.0, 2: 600.0, 3: 600.0},
        steps(3.0, 0, 1, late=600),
        positions={2: waits, 3: waits},
        query="s3://bucket/checkpoints/orders",
    )
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(screen(found))
    return console


def check(file: Path, expected: str, found: str) -> None:
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(expected, "utf-8")
    else:
        assert found == expected, f"{file.name} is old: run this test with UPDATE_GOLDEN=1"


def test_the_how_to_shows_this_screen() -> None:
    file = DOCS / "watch.md"
    page = file.read_text("utf-8")
    lines = [it.rstrip() for it in recorded().export_text().splitlines()]
    block = "```text\n" + "\n".join(lines) + "\n```"
    check(file, re.sub(r"```text\n.*?\n```", lambda _: block, page, count=1, flags=re.DOTALL), page)


def test_the_picture_is_this_screen() -> None:
    file = DOCS / "watch.svg"
    svg = recorded().export_svg(title="spark-kinesis top", code_format=SVG, unique_id="top")
    check(file, svg, file.read_text("utf-8") if file.exists() else "")
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
