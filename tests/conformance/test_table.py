"""The conformance table equals the result of this run of the contract. Needs its reports."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from localstack import conformance

REMEDY = "run `make conformance`"


@pytest.fixture(scope="module")
def runs() -> dict[str, conformance.Run]:
    """The runs of the servers that were tested."""
    found = conformance.servers()
    for name in ("simulator, in memory", "simulator, CBOR", "simulator, JSON"):
        assert name in found, f"no reports of {name}: {REMEDY}"
    return found


@pytest.mark.usefixtures("runs")
def test_the_table_shows_this_run() -> None:
    """A server that is in the table or in this run only, such as LocalStack, is not compared."""
    shown, actual = (
        conformance.cells(t) for t in (conformance.documented(), conformance.generated())
    )
    both = {server for _, server in shown} & {server for _, server in actual}
    assert len(both) >= 3
    for cell, value in actual.items():
        if cell[1] in both:
            assert shown.get(cell) == value, f"{cell}: {REMEDY}"
    assert {operation for operation, _ in shown} == {operation for operation, _ in actual}, REMEDY


def test_the_table_shows_results_only() -> None:
    """A server that was not run has no column."""
    for cell, value in conformance.cells(conformance.documented()).items():
        assert re.fullmatch(r"(\d+/\d+)?", value), cell


def test_no_rule_is_missing_silently(runs: dict[str, conformance.Run]) -> None:
    """A server skips, and so names, each rule that it does not run and another one does."""
    tried = {n: run.rules() for n, run in runs.items()}
    every = set().union(*tried.values())
    assert {n: every - rules for n, rules in tried.items() if every - rules} == {}


def test_every_deviation_is_named(runs: dict[str, conformance.Run]) -> None:
    table = conformance.documented()
    shown = {server for _, server in conformance.cells(table)}
    assert [
        rule
        for n, run in runs.items()
        if n in shown
        for rule in run.skipped
        if f"*{rule}*" not in table
    ] == [], REMEDY


def test_the_simulator_follows_the_whole_contract(runs: dict[str, conformance.Run]) -> None:
    for name, run in runs.items():
        if name.startswith("simulator"):
            assert run.broken | run.skipped == set(), name


def test_boto3_calls_every_operation_that_is_served() -> None:
    served = conformance.boto3_operations("served")
    assert served >= {"PutRecords", "GetRecords", "ListShards"}
    assert served - conformance.boto3_operations("called") == set()


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
