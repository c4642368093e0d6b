"""Settings of a local Kinesis: checked before it starts, and passed to the server."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis.local import LocalKinesis
from spark_kinesis.local._server import ServerSettings

if TYPE_CHECKING:
    from pathlib import Path


def test_only_settings_other_than_the_defaults_are_arguments(tmp_path: Path) -> None:
    assert ServerSettings().arguments() == []
    settings = ServerSettings(
        persist=tmp_path,
        clock="simulated",
        list_lag=timedelta(seconds=2),
        change_time=timedelta(milliseconds=500),
        consumer_limit=50,
    )
    expected = ["--persist", str(tmp_path), "--clock", "simulated", "--list-lag", "2000ms"]
    expected += ["--change-time", "500ms", "--consumer-limit", "50"]
    assert settings.arguments() == expected
    assert ServerSettings(quotas="aws").arguments() == ["--quotas", "aws"]
    assert ServerSettings(quotas="window").arguments() == ["--quotas", "window"]


@pytest.mark.parametrize("heap", ["", "1", "0g", "-1g", "1t", "1 g", "1g -XshowSettings"])
def test_a_heap_is_a_size(heap: str) -> None:
    with pytest.raises(ValueError, match="heap must be a size such as 512m or 4g, not"):
        LocalKinesis(heap=heap)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("clock", "simulatd", "clock must be 'system' or 'simulated', not 'simulatd'. Did you "),
        ("clock", "Simulated", "Did you mean 'simulated'?"),
        ("quotas", "AWS", "not 'AWS'. Did you mean 'aws'?"),
        ("consumer_limit", 30, "consumer_limit must be 20 or 50, not 30"),
        ("change_time", timedelta(seconds=-1), "change_time must not be negative"),
        ("list_lag", timedelta(microseconds=1), "list_lag must be a whole number of milliseconds"),
    ],
)
def test_another_value_is_refused_before_the_start(field: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=field) as raised:
        LocalKinesis(**{field: value})
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [("clock", None), ("quotas", True), ("change_time", 1), ("heap", 1), ("consumer_limit", "20")],
)
def test_a_wrong_type_is_refused_before_the_start(field: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"{field} must be"):
        LocalKinesis(**{field: value})


@pytest.mark.parametrize("quotas", ["aws", "steps"])
def test_quotas_need_a_clock_that_moves(quotas: Any) -> None:
    with pytest.raises(ValueError, match="exclude each other"):
        LocalKinesis(quotas=quotas, clock="simulated")
