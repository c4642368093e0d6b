"""Each chart in one sentence, for people who do not see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def chart_texts(figures: Mapping[str, Any], *, shard_count: int) -> dict[str, str]:
    """The sentence of each chart, by the chart's name in the page."""
    now = figures["now"]
    return {
        "levels": f"Last 5 minutes: {totals(figures['levels'])}.",
        "services": f"Last 5 minutes: {totals(figures['services'])}.",
        "latency": latency(now["p50"], now["p99"]),
        "shards": lag(figures["shards"], shard_count),
        "bad": f"Last 5 minutes: {amount(now['bad'], 'bad event')}.",
    }


def amount(number: int, noun: str) -> str:
    """A number with its noun, for example ``1 shard`` or ``2 shards``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def totals(series: Sequence[Mapping[str, Any]]) -> str:
    """The number of events of each series."""
    return ", ".join(f"{it['name']} {sum(it['counts']):,}" for it in series) or "no events"


def latency(p50: float | None, p99: float | None) -> str:
    """The latency of the last batch."""
    if p50 is None or p99 is None:
        return "The last batch stored no events."
    return f"Last batch: half of the events within {p50:.0f} ms, 99 % within {p99:.0f} ms."


def lag(shown: Sequence[Mapping[str, Any]], shard_count: int) -> str:
    """The lag of the shard that is furthest behind."""
    if not shown:
        return "No shard had records in the last minute."
    worst = shown[0]
    text = (
        f"{amount(shard_count, 'shard')} with records in the last minute. "
        f"Largest lag: {worst['name']}, {worst['behindMs'] / 1000:.1f} s."
    )
    if shard_count > len(shown):
        text += f" The chart shows the {len(shown)} shards with the largest lag."
    return text
