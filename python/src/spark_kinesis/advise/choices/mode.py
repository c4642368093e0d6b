"""On-demand or provisioned."""

from __future__ import annotations

from spark_kinesis.tools.facts.records import MIB

from .choice import Choice
from .prices import on_demand, provisioned
from .traffic import Traffic, shards_text

QUESTION = "capacity mode"
# A stream that is cheaper by less than this part is not worth a change of its mode.
_WORTH = 0.2
# What a new on-demand stream accepts, from "Quotas and limits" of the developer guide.
_FIRST_MIB = 4
_UNEVEN = 3.0


def advise_mode(traffic: Traffic) -> Choice:
    """The cheaper mode, unless the present one costs about the same."""
    fixed, flexible = provisioned(traffic, traffic.wanted_shards), on_demand(traffic)
    is_on_demand = flexible < fixed
    if traffic.mode is not None:
        present = traffic.mode == "ON_DEMAND"
        mine, other = (flexible, fixed) if present else (fixed, flexible)
        is_on_demand = present if other > mine * (1 - _WORTH) else not present
    return Choice(
        question=QUESTION,
        answer="on-demand" if is_on_demand else "provisioned",
        reasons=(
            (
                f"Provisioned with {shards_text(traffic.wanted_shards)} costs {fixed:,.0f} USD per "
                f"month, on-demand {flexible:,.0f} USD, at the average of "
                f"{traffic.average.bytes / MIB:.3g} MiB/s and {traffic.average.records:,.1f} "
                "records/s."
            ),
            *_shape(traffic),
        ),
        figures={"provisioned_usd_per_month": fixed, "on_demand_usd_per_month": flexible},
    )


def _shape(traffic: Traffic) -> tuple[str, ...]:
    ratio = traffic.peak.used / traffic.average.used if traffic.average.used else 1.0
    told = []
    if ratio >= _UNEVEN:
        told.append(
            f"The busiest minute has {ratio:.1f} times the average. Provisioned shards are paid "
            "for the busiest minute, an on-demand stream for the data."
        )
    if traffic.peak.bytes > _FIRST_MIB * MIB:
        told.append(
            f"A new on-demand stream accepts {_FIRST_MIB} MiB/s. It grows to twice its highest "
            "rate of the last 30 days, so a rise to more than that is throttled for some minutes."
        )
    return tuple(told)
