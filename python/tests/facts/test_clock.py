"""The clock of the service."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest

from spark_kinesis.tools.facts import losses
from spark_kinesis.tools.facts.losses import clock_lead

NOW = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize("skew", [0, 60, -3600])
def test_the_lead_is_known_to_half_a_second(skew: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses, "utc_now", lambda: NOW)
    date = format_datetime(NOW + timedelta(seconds=skew), usegmt=True)
    assert clock_lead({"date": date}) == timedelta(seconds=skew + 0.5)


def test_an_answer_without_a_time_shows_no_lead() -> None:
    assert clock_lead({}) is None
    assert clock_lead({"Date": "soon"}) is None
