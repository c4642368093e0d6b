"""The conformance table equals the result of this run of the contract. Needs its reports."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from localstack import conformance

REMEDY = "run `make conformance`"


@pytest.fixture(scope="module")
def runs() -> dict[str, conformance.Run]:
    """The runs of the servers that were tested."""
    found = {n: run for n, run in conformance.servers().items() if run.kept or run.broken}
    for name in ("simulator, in memory", "simulator, CBOR", "simulator, JSON", conformance.BOTO3):
        assert name in found, f"no reports of {name}: {REMEDY}"
    return found


def test_the_table_shows_this_run(runs: dict[str, conformance.Run]) -> None:
    shown, actual = (
        conformance.cells(t) for t in (conformance.documented(), conformance.generated())
    )
    for cell, value in actual.items():
        if cell[1] in runs:
            assert shown.get(cell) == value, f"{cell}: {REMEDY}"
    assert {operation for operation, _ in shown} == {operation for operation, _ in actual}, REMEDY


def test_no_rule_is_missing_silently(runs: dict[str, conformance.Run]) -> None:
    """A server skips, and so names, each rule that it does not run and another one does."""
    tried = {n: run.rules() for n, run in runs.items() if n in conformance.SERVERS}
    every = set().union(*tried.values())
    assert {n: every - rules for n, rules in tried.items() if every - rules} == {}


def test_every_deviation_is_named(runs: dict[str, conformance.Run]) -> None:
    table = conformance.documented()
    assert [
        rule
        for n, run in runs.items()
        if n in conformance.SERVERS
        for rule in run.skipped
        if f"*{rule}*" not in table
    ] == [], REMEDY


def test_the_simulator_follows_the_whole_contract(runs: dict[str, conformance.Run]) -> None:
    for name, run in runs.items():
        if name.startswith("simulator"):
            assert run.broken | run.skipped == set(), name


def test_boto3_calls_every_operation_that_is_served(runs: dict[str, conformance.Run]) -> None:
    served = conformance.known_operations()
    assert served >= {"PutRecords", "GetRecords", "ListShards"}
    assert served - runs[conformance.BOTO3].operations() == set()


def test_tests_of_commands_are_no_rules() -> None:
    cases = list(ET.parse(conformance.BOTO3_REPORT).iter("testcase"))
    counted = {it.get("classname", "") for it in cases if conformance.properties(it, "called")}
    assert "tests.simulator.test_records" in counted
    assert [name for name in counted if name.count(".") > 2] == []


def test_each_server_has_its_own_reasons() -> None:
    readme = """
| Capability | one | two | three |
|---|---|---|---|
| `Waits` | it `hurries` | The same | |
| `Counts` | | miscounts | The same |

"""
    assert conformance.reasons(readme) == {
        "one": {"Waits": "it `hurries`"},
        "two": {"Waits": "it `hurries`", "Counts": "miscounts"},
        "three": {"Counts": "miscounts"},
    }
    run = conformance.Run(skipped={"Op: rule"}, lacks={"Op: rule": ["Counts"]})
    lines = conformance.deviations("three", run, {"Counts": "miscounts", "Waits": "no"})
    assert lines == ["  - miscounts (`Counts`): *Op: rule*"]
    with pytest.raises(SystemExit, match=r"Op: rule.*Counts"):
        conformance.deviations("one", run, {"Waits": "it `hurries`"})
