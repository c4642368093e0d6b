"""What AWS does and a local Kinesis does on request: values, and arguments of the server."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from spark_kinesis.local import Behaviour, LocalKinesis
from spark_kinesis.local._server import ServerSettings

SECOND = timedelta(seconds=1)


def test_only_what_is_on_is_an_argument() -> None:
    assert ServerSettings(behaviour=Behaviour()).arguments() == []
    late = Behaviour(visibility_delay=SECOND, empty_pages=0.5, on_demand_scaling=3, seed=-7)
    expected = ["--visibility-delay", "1000ms", "--empty-pages", "0.5"]
    expected += ["--on-demand-scaling", "3", "--seed", "-7"]
    assert ServerSettings(behaviour=late).arguments() == expected


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"empty_pages": 1.1}, "empty_pages must be from 0 to 1, not 1.1"),
        ({"empty_pages": float("nan")}, "empty_pages must be from 0 to 1, not nan"),
        ({"failed_entries": -0.1}, "failed_entries must be from 0 to 1, not -0.1"),
        ({"visibility_delay": -SECOND}, "visibility_delay must not be negative"),
        ({"arrival_fall": SECOND / 10**6}, "arrival_fall must be a whole number of milliseconds"),
        ({"on_demand_scaling": -1}, "on_demand_scaling must not be negative, not -1"),
    ],
)
def test_a_wrong_value_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Behaviour(**wrong)


@pytest.mark.parametrize("wrong", [{"seed": 1.5}, {"empty_pages": "1"}, {"arrival_fall": 5}])
def test_a_wrong_type_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=f"{next(iter(wrong))} must be"):
        Behaviour(**wrong)
    with pytest.raises(TypeError, match="behaviour must be Behaviour"):
        LocalKinesis(behaviour=wrong)  # type: ignore[arg-type]
