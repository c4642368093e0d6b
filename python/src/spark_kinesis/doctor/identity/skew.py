"""Is the clock of this machine right? Makes no calls."""

from __future__ import annotations

from datetime import timedelta

from spark_kinesis._times import duration_text
from spark_kinesis.doctor.finding import Finding, ok, problem, unknown

SECTION = "access"
_SUBJECT = "clock"
# AWS refuses a signature whose time differs more: KINESIS_CLOCK_SKEW.
_REFUSED = timedelta(minutes=5)
# A clock that NTP keeps is right to a second, and the service's time is known to a second.
_WRONG = timedelta(seconds=30)


def skew_finding(ahead: timedelta | None) -> Finding:
    """Compare the clocks.

    Args:
        ahead: time by which the service's clock is ahead of this machine's. ``None`` if unknown.
    """
    if ahead is None:
        return unknown(SECTION, _SUBJECT, "the service did not show its time")
    direction = "behind" if ahead > timedelta() else "ahead of"
    seen = f"the clock of this machine is {duration_text(ahead)} {direction} the service's"
    if abs(ahead) < _WRONG:
        return ok(SECTION, _SUBJECT, seen)
    if abs(ahead) < _REFUSED:
        remedy = "Set the clock, for example with NTP. AWS refuses requests from five minutes on."
        return problem(SECTION, _SUBJECT, seen, remedy)
    return problem(
        SECTION,
        _SUBJECT,
        f"{seen}. AWS refuses such requests with KINESIS_CLOCK_SKEW",
        "Set the clock, for example with NTP.",
    )
