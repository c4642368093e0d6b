"""The screen that the documentation shows. ``UPDATE_GOLDEN=1`` writes it again."""

from __future__ import annotations

import io
import os
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from rich.console import Console

from spark_kinesis._offsets import Progress, ShardOffset
from spark_kinesis._watch import terminal
from spark_kinesis._watch.snapshot import Cost, ShardFacts, snapshot

from .given import ago, facts, family, name, steps
from .test_terminal import BATCH, shard

DOCS = Path(__file__).parents[3] / "docs" / "how-to"
WIDTH = 110
QUERY = "5851a753-29b2-4311-8343-892adb244657"
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
    waits = ShardOffset(
        progress=Progress.TRIM_HORIZON, waits_for=(name(1),), complete_as_of=ago(600)
    )
    late = timedelta(seconds=600)
    shards = {
        0: replace(shard(3600), **family()),
        1: replace(shard(600), **family(is_open=False)),
        2: ShardFacts(**family(1), position=waits, lag=late),
        3: ShardFacts(**family(1), position=waits, lag=late),
    }
    found = facts(shards, steps=steps(3.0, 0, 1, late=600), batch=BATCH)
    found = replace(
        found, place="s3://bucket/checkpoints/orders", cost=Cost(calls=0.04, bytes=0.006)
    )
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(
        terminal.screen(snapshot(replace(found, query="5851a753-29b2-4311-8343-892adb244657")))
    )
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
