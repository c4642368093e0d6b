"""Aggregate or not."""

from __future__ import annotations

from dataclasses import replace

from .choice import Choice
from .prices import on_demand, provisioned
from .traffic import Traffic, shards_for, shards_text

QUESTION = "aggregation"
# Records with this number of rows are aggregates already.
_AGGREGATED = 1.5
_WORTH = 0.8


def advise_aggregation(traffic: Traffic, most: float) -> Choice:
    """Aggregate if it saves shards or a fifth of the cost.

    Args:
        traffic: the traffic.
        most: largest used part of a shard's quota, from 0 to 1.
    """
    plain, packed = (
        shards_for(traffic.peak, most),
        shards_for(traffic.aggregated(traffic.peak), most),
    )
    after = replace(traffic, average=traffic.aggregated(traffic.average))
    before_usd, after_usd = _cost(traffic, plain), _cost(after, packed)
    figures = {
        "rows_per_record": traffic.rows_per_record,
        "shards_without": float(plain),
        "shards_with": float(packed),
        "usd_per_month_without": before_usd,
        "usd_per_month_with": after_usd,
    }
    if traffic.rows_per_record >= _AGGREGATED:
        reason = f"A record contains {traffic.rows_per_record:.1f} rows on average."
        return Choice(
            question=QUESTION,
            answer="keep aggregating",
            reasons=(reason,),
            figures={"rows_per_record": traffic.rows_per_record},
        )
    cost = (
        f"Without aggregation, even traffic needs {shards_text(plain)} and {before_usd:,.0f} USD "
        f"per month. In full records of 25 KB, it needs {packed} and {after_usd:,.0f} USD."
    )
    if packed < plain or after_usd < before_usd * _WORTH:
        return Choice(
            question=QUESTION,
            answer="aggregate (aggregation=kpl)",
            reasons=(cost, f"A row has {traffic.row_bytes:,.0f} bytes.", _CONSUMERS),
            figures=figures,
        )
    return Choice(question=QUESTION, answer="do not aggregate", reasons=(cost,), figures=figures)


_CONSUMERS = (
    "All consumers must unpack the records: this connector and KCL do. Streams with the "
    "record distribution AUTO refuse them."
)


def _cost(traffic: Traffic, shards: int) -> float:
    is_on_demand = traffic.mode == "ON_DEMAND"
    return on_demand(traffic) if is_on_demand else provisioned(traffic, shards)
