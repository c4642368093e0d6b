"""What the use of the read quota means. Makes no calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis.doctor.aws import text_of
from spark_kinesis.doctor.finding import Finding, ok, problem, unknown
from spark_kinesis.tools.facts.records import MIB, READ_BYTES, READ_CALLS

if TYPE_CHECKING:
    from .burst import Burst
    from .usage import Usage

SECTION = "quota"
_SUBJECT = "reads"
_BUSY = 0.8
_REFUSALS = 0.01  # part of all calls. The source itself is refused now and then.
_REMEDY = (
    "Use enhanced fan-out, or let fewer applications poll the stream: see "
    "docs/how-to/enhanced-fan-out.md."
)


def usage_finding(usage: Usage, shards: int) -> Finding:
    """How much all polling readers use, the query itself among them.

    Args:
        usage: what Amazon CloudWatch says.
        shards: number of open shards.
    """
    calls, size = usage.calls / max(shards, 1), usage.bytes / max(shards, 1)
    seen = (
        f"in the busiest of the last 15 minutes, all polling readers together used {calls:.1f} of "
        f"{READ_CALLS} calls and {size / MIB:.2f} of 2 MiB per second and shard, on average over "
        f"the shards. {usage.throttled:.0f} calls were refused in these 15 minutes"
    )
    everything = usage.total + usage.throttled
    is_refused = usage.throttled > everything * _REFUSALS
    if is_refused or max(calls / READ_CALLS, size / READ_BYTES) >= _BUSY:
        return problem(SECTION, _SUBJECT, seen, _REMEDY)
    return ok(SECTION, _SUBJECT, seen)


def burst_finding(burst: Burst) -> Finding:
    """How much other readers used while one shard was read five times at once."""
    if burst.failure is not None:
        seen = f"{burst.shard} could not be read five times: {text_of(burst.failure)}"
        return unknown(SECTION, _SUBJECT, seen, "Try again later.")
    seen = f"{burst.shard} refused {burst.refused} of {READ_CALLS} reads at once"
    if not burst.refused:
        return ok(SECTION, _SUBJECT, f"{seen}, so no other reader used its quota")
    seen += f", so other readers used about {burst.refused} of its {READ_CALLS} reads per second"
    if burst.refused / READ_CALLS >= _BUSY:
        return problem(SECTION, _SUBJECT, seen, _REMEDY)
    return ok(SECTION, _SUBJECT, seen)
