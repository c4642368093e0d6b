"""The advice as JSON. Hash keys are texts, because JSON readers round numbers of 128 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .choices.prices import LOOKED_UP, PRICES
from .shards import HotKey, Layout, Merge, Piece, Rate, ShardLoad, Step

if TYPE_CHECKING:
    from .advice import Advice


def document(advice: Advice) -> dict[str, Any]:
    """One JSON object with all figures."""
    traffic = advice.traffic
    return {
        "stream": advice.stream,
        "traffic": {
            "average": traffic.average,
            "peak": traffic.peak,
            "rowsPerRecord": traffic.rows_per_record,
            "rowBytes": traffic.row_bytes,
            "writesThrottled": traffic.writes_throttled,
            "readsThrottled": traffic.reads_throttled,
        },
        "shards": [_shard(it) for it in advice.present],
        "wantedShards": [] if advice.layout is None else _wanted(advice.layout),
        "hotKeys": [] if advice.layout is None else [_hot(it) for it in advice.layout.hot],
        "steps": [_step(it) for it in advice.steps],
        "choices": [
            {
                "question": it.question,
                "answer": it.answer,
                "reasons": it.reasons,
                "figures": dict(it.figures),
            }
            for it in advice.choices
        ],
        "prices": {
            "lookedUp": LOOKED_UP,
            "usd": [{"unit": it.unit, "usd": it.usd, "isChecked": it.is_checked} for it in PRICES],
        },
        "notes": advice.notes,
    }


def _shard(shard: ShardLoad) -> dict[str, Any]:
    return {
        "id": shard.id,
        "firstKey": str(shard.first_key),
        "lastKey": str(shard.last_key),
        "average": shard.average,
        "peak": shard.peak,
        "used": shard.peak.used,
        "throttled": shard.throttled,
        "sampled": shard.sampled,
    }


def _wanted(layout: Layout) -> list[dict[str, Any]]:
    return [_piece(it) for it in layout.pieces]


def _piece(piece: Piece) -> dict[str, Any]:
    load: Rate = piece.load
    return {
        "firstKey": str(piece.first_key),
        "lastKey": str(piece.last_key),
        "shards": piece.shards,
        "peak": load,
        "used": load.used,
        "usedAtMost": piece.bound,
    }


def _hot(hot: HotKey) -> dict[str, Any]:
    return {
        "key": hot.key,
        "hashKey": str(hot.hash_key),
        "shareOfShard": hot.share,
        "used": hot.used,
        "usedAtMost": hot.used_at_most,
    }


def _step(step: Step) -> dict[str, Any]:
    if isinstance(step, Merge):
        return {"call": "MergeShards", "shard": step.shard, "adjacent": step.adjacent}
    return {"call": "SplitShard", "shard": step.shard, "newStartingHashKey": str(step.at)}
