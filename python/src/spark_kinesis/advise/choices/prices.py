"""List prices of ``us-east-1`` in US dollars, and what a stream costs per month with them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from .traffic import PAYLOAD_UNIT, Traffic

LOOKED_UP = "November 2026"
PAGE = "https://aws.amazon.com/kinesis/data-streams/pricing/"
HOURS, SECONDS = 730, 730 * 3600  # of a month
GB = 2**30
_KB = 1024
_DAY, _WEEK = 24, 7 * 24  # hours


@dataclass(frozen=True, slots=True)
class Price:
    """A list price.

    Attributes:
        usd: price of one unit.
        unit: what is counted.
        is_checked: whether it was looked up in a copy of the price list.
    """

    usd: float
    unit: str
    is_checked: bool = True


SHARD = Price(0.015, "shard and hour")
PUTS = Price(0.014, "million payload units of 25 KB")
SHARD_WEEK = Price(0.02, "shard and hour, retention of more than a day", is_checked=False)
CONSUMER_SHARD = Price(0.015, "consumer, shard and hour")
CONSUMER_GB = Price(0.013, "GB that a consumer reads")
STREAM = Price(0.04, "on-demand stream and hour", is_checked=False)
GB_IN = Price(0.08, "GB written on demand, each record in whole KB", is_checked=False)
GB_OUT = Price(0.04, "GB read on demand", is_checked=False)
GB_WEEK = Price(
    0.10, "GB and month on demand, from the second to the seventh day", is_checked=False
)
GB_OUT_CONSUMER = Price(0.05, "GB that a consumer reads on demand")
GB_YEAR = Price(0.023, "GB and month, from the eighth day", is_checked=False)
PRICES = (
    SHARD,
    PUTS,
    SHARD_WEEK,
    CONSUMER_SHARD,
    CONSUMER_GB,
    STREAM,
    GB_IN,
    GB_OUT,
    GB_WEEK,
    GB_OUT_CONSUMER,
    GB_YEAR,
)


def provisioned(traffic: Traffic, shards: int) -> float:
    """US dollars per month of a provisioned stream with this number of shards."""
    units = ceil(max(traffic.record_bytes, 1) / PAYLOAD_UNIT) * traffic.average.records
    fan_out = traffic.consumers * fan_out_provisioned(traffic, shards)
    hours = _retained_hours(traffic)
    week = SHARD_WEEK.usd * shards * HOURS if hours > _DAY else 0.0
    return (
        SHARD.usd * shards * HOURS + PUTS.usd * units * SECONDS / 1e6 + fan_out + week
    ) + _years(traffic)


def on_demand(traffic: Traffic) -> float:
    """US dollars per month of an on-demand stream."""
    whole = ceil(max(traffic.record_bytes, 1) / _KB) * _KB * traffic.average.records
    gb_in, gb_out = whole * SECONDS / GB, monthly_gb(traffic)
    hours = min(_retained_hours(traffic), _WEEK) - _DAY
    week = GB_WEEK.usd * traffic.average.bytes * 3600 / GB * max(0.0, hours)
    return (
        STREAM.usd * HOURS
        + GB_IN.usd * gb_in
        + GB_OUT.usd * gb_out * traffic.pollers
        + traffic.consumers * GB_OUT_CONSUMER.usd * gb_out
        + week
        + _years(traffic)
    )


def fan_out_provisioned(traffic: Traffic, shards: int) -> float:
    """US dollars per month of one consumer of a provisioned stream."""
    return CONSUMER_SHARD.usd * shards * HOURS + CONSUMER_GB.usd * monthly_gb(traffic)


def fan_out_on_demand(traffic: Traffic) -> float:
    """US dollars per month that a consumer of an on-demand stream costs more than polling."""
    return (GB_OUT_CONSUMER.usd - GB_OUT.usd) * monthly_gb(traffic)


def monthly_gb(traffic: Traffic) -> float:
    """GB that are written in a month."""
    return traffic.average.bytes * SECONDS / GB


def _retained_hours(traffic: Traffic) -> float:
    return traffic.retention.total_seconds() / 3600


def _years(traffic: Traffic) -> float:
    hours = max(0.0, _retained_hours(traffic) - _WEEK)
    return GB_YEAR.usd * traffic.average.bytes * 3600 / GB * hours
