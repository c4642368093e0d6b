"""The conformance table in README.md: the result of each server's run of the contract.

The table is generated from the JUnit reports of sbt, and has a column for each server that was run.
In these reports, the tests of the contract are named ``Operation: rule``.
``python localstack/conformance.py`` writes the table. With the argument ``suites`` it prints the
Scala suites to run.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "localstack" / "README.md"
SCALA_REPORTS = ROOT / "localstack" / "simulator" / "target" / "test-reports"
BOTO3_REPORT = ROOT / "target" / "pytest-reports" / "simulator.xml"
BEGIN = "<!-- conformance: written by `make conformance` -->"
END = "<!-- conformance: end -->"

# The suites that run the contract, per server. Their columns are in the table if they were run.
SERVERS = {
    "simulator, in memory": ["SimulatedKinesisSuite", "SimulatedQuotaSuite"],
    "simulator, CBOR": ["SimulatorHttpSuite", "SimulatorHttpQuotaSuite"],
    "simulator, JSON": ["SimulatorJsonSuite", "SimulatorJsonQuotaSuite"],
    "kinesis-local": ["KinesisMockSuite"],
    "LocalStack": ["LocalStackSuite"],
    "AWS": ["AwsSuite"],
}
NAMED = re.compile(r"([A-Z]\w+: .+?)(?: \(lacks: ([\w, ]+)\))?", re.DOTALL)
REASONS = re.compile(r"^\| Capability \|.*\n\|[-| ]+\|\n(?:\|.*\n)+", re.MULTILINE)
SAME = "The same"


@dataclass
class Run:
    """The result of the contract on one server: the rules that it follows, breaks or skips."""

    kept: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    lacks: dict[str, list[str]] = field(default_factory=dict)
    """Per rule, the capabilities that it needs and the server lacks."""

    def settle(self) -> Run:
        """Combine suites: a rule is kept if one suite keeps it and none breaks it."""
        kept, skipped = self.kept - self.broken, self.skipped - self.kept - self.broken
        return Run(kept, self.broken, skipped, {rule: self.lacks[rule] for rule in skipped})

    def rules(self) -> set[str]:
        """All rules, whatever their result."""
        return self.kept | self.broken | self.skipped

    def operations(self) -> set[str]:
        """All operations that have rules."""
        return {operation_of(rule) for rule in self.rules()}

    def cell(self, operation: str) -> str:
        """Number of rules kept, and number of rules."""
        kept, others = (
            sum(operation_of(rule) == operation for rule in rules)
            for rules in (self.kept, self.broken | self.skipped)
        )
        return f"{kept}/{kept + others}" if kept + others else ""


def operation_of(rule: str) -> str:
    """The operation that a rule names."""
    return rule.split(":", 1)[0]


def scala_run(suites: list[str]) -> Run:
    """The run that the existing reports of these suites describe."""
    run = Run()
    for suite in suites:
        for report in SCALA_REPORTS.glob(f"*.{suite}.xml"):
            for case in ET.parse(report).iter("testcase"):
                if named := NAMED.fullmatch(case.get("name", "")):
                    outcome(run, case).add(named[1])
                    run.lacks[named[1]] = named[2].split(", ") if named[2] else []
    return run.settle()


def outcome(run: Run, case: ET.Element) -> set[str]:
    """The set of rules to which a test's result belongs."""
    if case.find("skipped") is not None:
        return run.skipped
    failed = case.find("failure") is not None or case.find("error") is not None
    return run.broken if failed else run.kept


def boto3_operations(name: str, report: Path = BOTO3_REPORT) -> set[str]:
    """The operations of the simulator in the boto3 tests: those ``called``, or those ``served``."""
    cases = ET.parse(report).iter("testcase") if report.exists() else []
    return {operation for case in cases for operation in properties(case, name)}


def properties(case: ET.Element, name: str) -> list[str]:
    """The values of one property of a test."""
    return [p.get("value", "") for p in case.iter("property") if p.get("name") == name]


def reasons(readme: str) -> dict[str, dict[str, str]]:
    """Per server and missing capability, how the server differs."""
    found = REASONS.search(readme)
    lines = found[0].splitlines() if found else []
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    by_server: dict[str, dict[str, str]] = {name: {} for name in rows[0][1:]}
    for capability, *cells in rows[2:]:
        reason = ""
        for server, cell in zip(by_server, cells, strict=True):
            reason = reason if cell == SAME else cell
            if reason:
                by_server[server][capability.strip("`")] = reason
    return by_server


def deviations(name: str, run: Run, reasons: dict[str, str]) -> list[str]:
    """The rules that a server skips, with the reasons."""
    by_lack = defaultdict(list)
    for rule in sorted(run.skipped):
        missing = [lack for lack in run.lacks[rule] if lack not in reasons]
        if missing or not run.lacks[rule]:
            sys.exit(f"No reason why {name} skips '{rule}': add {missing} to README.md's table.")
        by_lack[tuple(run.lacks[rule])].append(rule)
    return [
        f"  - {'. '.join(f'{reasons[lack]} (`{lack}`)' for lack in lacks)}: "
        + "; ".join(f"*{rule}*" for rule in rules)
        for lacks, rules in sorted(by_lack.items())
    ]


def lacks_of(run: Run) -> set[str]:
    """The capabilities that a server lacks for some rule."""
    return {lack for lacks in run.lacks.values() for lack in lacks}


def servers() -> dict[str, Run]:
    """The runs of the servers that were run, per column of the table."""
    runs = {name: scala_run(suites) for name, suites in SERVERS.items()}
    return {name: run for name, run in runs.items() if run.kept or run.broken}


def table(runs: dict[str, Run], operations: set[str]) -> str:
    """The table and the deviations, as Markdown."""
    rows = [["Operation", *runs], ["---"] * (len(runs) + 1)]
    rows += [[f"`{o}`", *(run.cell(o) for run in runs.values())] for o in sorted(operations)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    stated = reasons(README.read_text(encoding="utf-8"))
    for name, run in runs.items():
        if run.skipped:
            known = stated.get(name) or dict.fromkeys(
                lacks_of(run), "Not tried, or known to differ"
            )
            lines += [
                "",
                f"- **{name}** does not follow these rules:",
                *deviations(name, run, known),
            ]
    return "\n".join(lines)


def generated() -> str:
    """The table according to the current reports."""
    runs = servers()
    return table(runs, set().union(*(run.operations() for run in runs.values())))


def documented() -> str:
    """The table in README.md."""
    text = README.read_text(encoding="utf-8")
    return text[text.index(BEGIN) + len(BEGIN) : text.index(END)].strip()


def cells(markdown: str) -> dict[tuple[str, str], str]:
    """The cells of a table, per operation and server."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in markdown.splitlines()
        if line.startswith("|")
    ]
    return {
        (row[0], server): cell
        for row in rows[2:]
        for server, cell in zip(rows[0][1:], row[1:], strict=True)
    }


def main(words: list[str]) -> None:
    """Write the table, or print the suites."""
    if words == ["suites"]:
        print(" ".join(f"*.{suite}" for suites in SERVERS.values() for suite in suites))
        return
    text = README.read_text(encoding="utf-8")
    before, after = text[: text.index(BEGIN)], text[text.index(END) :]
    README.write_text(f"{before}{BEGIN}\n{generated()}\n\n{after}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
