"""The advice as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from .choices.prices import LOOKED_UP, PAGE, PRICES
from .shards import HotKey, Layout, Merge, Rate, ShardLoad, Step

if TYPE_CHECKING:
    from rich.console import Console

    from .advice import Advice
    from .choices import Choice

_STEPS_SHOWN, _SHARDS_SHOWN = 40, 100
_SMALL = 0.1


def show(advice: Advice, console: Console) -> None:
    """Print an advice: the shards, the steps, each answer with its reasons, and the prices."""
    if advice.stream is not None and advice.layout is not None:
        console.print(_table(advice))
        for line in shard_lines(advice, advice.layout):
            console.print(line, markup=False)
    for choice in advice.choices:
        _show_choice(choice, console)
    console.print()
    for note in (*advice.notes, price_note()):
        console.print(note, markup=False, style="dim")


def _table(advice: Advice) -> Table:
    # 80 columns without a box: the IDs are needed whole, to find them in the steps.
    table = Table(title=f"Open shards of {advice.stream}", title_justify="left", box=None)
    for name in ("shard", "hash keys", "records/s", "KiB/s", "used", "refused/s", "rows"):
        is_text = name in {"shard", "hash keys"}
        table.add_column(name, justify="left" if is_text else "right", no_wrap=True)
    for shard in advice.present[:_SHARDS_SHOWN]:
        table.add_row(*_row(shard))
    if len(advice.present) > _SHARDS_SHOWN:
        table.caption = f"{len(advice.present) - _SHARDS_SHOWN} more: see --json"
    return table


def _row(shard: ShardLoad) -> tuple[str | Text, ...]:
    used = shard.peak.used
    color = "red" if used > 1 else ""
    return (
        shard.id,
        f"{shard.first_key:032x}"[:6] + "-" + f"{shard.last_key:032x}"[:6],
        f"{shard.peak.records:,.4g}",
        f"{shard.peak.bytes / 1024:,.4g}",
        Text(percent(used), style=color),
        f"{shard.throttled:.2g}",
        str(shard.sampled),
    )


def shard_lines(advice: Advice, layout: Layout) -> Iterator[str]:
    """What to do with the shards, in sentences."""
    present, wanted = len(advice.present), len(layout.pieces)
    total = sum((it.peak for it in advice.present), Rate())
    fullest = max(it.load.used for it in layout.pieces)
    if advice.traffic.mode == "ON_DEMAND":
        yield "The service splits and merges the shards of an on-demand stream itself."
    elif not advice.steps:
        yield f"shards: keep the {present}. The fullest uses {percent(fullest)}."
    else:
        yield (
            f"shards: {wanted} instead of {present}. The busiest minute fills {total.used:.2f} "
            f"shards, so {layout.least} would do with even keys. After the change, the fullest "
            f"uses {percent(fullest)}."
        )
    for hot in layout.hot:
        yield hot_line(hot)
    for number, step in enumerate(advice.steps[:_STEPS_SHOWN], start=1):
        yield f"  {number}. {step_line(step)}"
    if len(advice.steps) > _STEPS_SHOWN:
        yield f"  ... and {len(advice.steps) - _STEPS_SHOWN} more: see --json"


def hot_line(hot: HotKey) -> str:
    """What a hot key means."""
    return (
        f"hot key: {hot.key!r} alone uses {percent(hot.used)} of a shard's write quota (at most "
        f"{percent(hot.used_at_most)}), and is {hot.share:.0%} of the load of its shard. All its "
        "records go to one shard, so no split helps. Divide the key (for example with a number "
        "behind it), aggregate, or write less."
    )


def step_line(step: Step) -> str:
    """A call in words."""
    if isinstance(step, Merge):
        return f"merge {step.shard} with {step.adjacent}"
    return f"split {step.shard} at hash key {step.at}"


def percent(part: float) -> str:
    """A part of 1 in percent, with a decimal if it is small."""
    return f"{part:.0%}" if part >= _SMALL or not part else f"{part:.1%}"


def _show_choice(choice: Choice, console: Console) -> None:
    console.print()
    console.print(f"{choice.question}: {choice.answer}", markup=False, style="bold")
    for reason in choice.reasons:
        console.print(f"  {reason}", markup=False)


def price_note() -> str:
    """The source of the prices."""
    unchecked = "; ".join(f"{it.usd:g} per {it.unit}" for it in PRICES if not it.is_checked)
    return (
        f"List prices of us-east-1 in US dollars, looked up in {LOOKED_UP}. These are not checked "
        f"against the price list: {unchecked}. Current prices: {PAGE}"
    )
