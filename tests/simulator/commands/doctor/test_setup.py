"""The command, the network and the clock."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from spark_kinesis.local import LocalKinesis
from spark_kinesis.tools import doctor
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.examination import Report, State
from tests.simulator.commands.doctor.support import found

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


def test_the_command_has_a_code_and_json(endpoint: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["doctor", "--endpoint", endpoint, "--stream"]
    assert run([*words, "given", "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert answer["healthy"]
    assert {"section", "subject", "state", "seen", "remedy"} == set(answer["findings"][0])
    assert run([*words, "orderz"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("✘ stream: status: kinesis:DescribeStreamSummary failed")
    assert "Check the name" in out.splitlines()[1]


def test_a_server_without_tls_is_reached(look: Callable[..., Report]) -> None:
    report = look()
    assert "127.0.0.1" in found(report, "network", "address").seen
    assert found(report, "network", "connection").seen.endswith(" ms")


def test_a_wrong_clock_is_a_problem(endpoint: str) -> None:
    assert found(doctor(endpoint=endpoint), "network", "clock").state is State.OK
    with LocalKinesis(clock="simulated") as kinesis:
        kinesis.advance(timedelta(minutes=2))
        slow = found(doctor(endpoint=kinesis.endpoint), "network", "clock")
        kinesis.advance(timedelta(minutes=8))
        refused = found(doctor(endpoint=kinesis.endpoint), "network", "clock")
    assert slow.state is refused.state is State.PROBLEM
    assert "KINESIS_CLOCK_SKEW" not in slow.seen
    assert "behind the service's. AWS refuses such requests with KINESIS_CLOCK_SKEW" in refused.seen


def test_an_endpoint_that_nobody_serves_is_a_problem() -> None:
    report = doctor(endpoint="http://127.0.0.1:1")
    assert found(report, "network", "connection").state is State.PROBLEM
