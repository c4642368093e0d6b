"""The table of conformance says what this run of the contract did. Needs its reports."""

from __future__ import annotations

import pytest

from localstack import conformance

REMEDY = "run `make conformance`"


@pytest.fixture(scope="module")
def runs() -> dict[str, conformance.Run]:
    """Of the servers that were run."""
    found = {n: run for n, run in conformance.servers().items() if run.kept or run.broken}
    for name in ("simulator, in memory", "simulator, CBOR", "simulator, JSON", conformance.BOTO3):
        assert name in found, f"no reports of {name}: {REMEDY}"
    return found


def test_the_table_is_of_this_run(runs: dict[str, conformance.Run]) -> None:
    said, is_so = (conformance.cells(t) for t in (conformance.written(), conformance.made()))
    for cell, value in is_so.items():
        if cell[1] in runs:
            assert said.get(cell) == value, f"{cell}: {REMEDY}"
    assert {operation for operation, _ in said} == {operation for operation, _ in is_so}, REMEDY


def test_no_rule_is_left_out_silently(runs: dict[str, conformance.Run]) -> None:
    """A rule that another server is tried by is at least skipped, and so named."""
    tried = {n: run.rules() for n, run in runs.items() if n in conformance.SERVERS}
    every = set().union(*tried.values())
    assert {n: every - rules for n, rules in tried.items() if every - rules} == {}


def test_every_deviation_is_named(runs: dict[str, conformance.Run]) -> None:
    said = conformance.written()
    assert [
        rule
        for n, run in runs.items()
        if n in conformance.SERVERS
        for rule in run.skipped
        if f"*{rule}*" not in said
    ] == [], REMEDY


def test_the_simulator_keeps_the_whole_contract(runs: dict[str, conformance.Run]) -> None:
    for name, run in runs.items():
        if name.startswith("simulator"):
            assert run.broken | run.skipped == set(), name


def test_boto3_calls_every_operation_that_is_served(runs: dict[str, conformance.Run]) -> None:
    served = conformance.known_operations()
    assert served >= {"PutRecords", "GetRecords", "ListShards"}
    assert served - runs[conformance.BOTO3].operations() == set()


def test_a_server_is_given_its_own_reasons() -> None:
    readme = """
| capability | one | two | three |
|---|---|---|---|
| `Waits` | it `hurries` | the same | |
| `Counts` | | miscounts | the same |

"""
    assert conformance.reasons(readme) == {
        "one": {"Waits": "it `hurries`"},
        "two": {"Waits": "it `hurries`", "Counts": "miscounts"},
        "three": {"Counts": "miscounts"},
    }
    run = conformance.Run(skipped={"Op: rule"}, lacks={"Op: rule": ["Counts"]})
    said = conformance.deviations("three", run, {"Counts": "miscounts", "Waits": "no"})
    assert said == ["  - miscounts (`Counts`): *Op: rule*"]
    with pytest.raises(SystemExit, match=r"Op: rule.*Counts"):
        conformance.deviations("one", run, {"Waits": "it `hurries`"})
