"""The table of conformance in README.md: what each server did in its run of the contract.

It is made of the JUnit reports that sbt and pytest leave behind, in which the contract's tests are
named ``Operation: rule``. ``python localstack/conformance.py`` writes the table; ``suites`` as an
argument prints the Scala suites to run for it.
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

# The suites that run the contract, by the table's columns.
SERVERS = {
    "simulator, in memory": ["SimulatedKinesisSuite", "SimulatedQuotaSuite"],
    "simulator, CBOR": ["SimulatorHttpSuite", "SimulatorHttpQuotaSuite"],
    "simulator, JSON": ["SimulatorJsonSuite", "SimulatorJsonQuotaSuite"],
    "kinesis-local": ["KinesisMockSuite"],
    "LocalStack": ["LocalStackSuite"],
    "AWS": ["AwsSuite"],
}
BOTO3 = "simulator, boto3"
NAMED = re.compile(r"([A-Z]\w+: .+?)(?: \(lacks: ([\w, ]+)\))?", re.DOTALL)
REASONS = re.compile(r"^\| capability \|.*\n\|[-| ]+\|\n(?:\|.*\n)+", re.MULTILINE)
SAME = "the same"


@dataclass
class Run:
    """What became of the contract on one server: the rules kept, broken, and left out."""

    kept: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    lacks: dict[str, list[str]] = field(default_factory=dict)
    """What the server lacks that a rule needs."""

    def settle(self) -> Run:
        """A rule that several suites test is kept where none breaks it, and one keeps it."""
        kept, skipped = self.kept - self.broken, self.skipped - self.kept - self.broken
        return Run(kept, self.broken, skipped, {rule: self.lacks[rule] for rule in skipped})

    def rules(self) -> set[str]:
        """All, whatever became of them."""
        return self.kept | self.broken | self.skipped

    def operations(self) -> set[str]:
        """All that rules are about."""
        return {operation_of(rule) for rule in self.rules()}

    def cell(self, operation: str) -> str:
        """Rules kept of rules there are."""
        kept, others = (
            sum(operation_of(rule) == operation for rule in rules)
            for rules in (self.kept, self.broken | self.skipped)
        )
        if not self.kept and not self.broken:
            return "not run"
        return f"{kept}/{kept + others}" if kept + others else ""


def operation_of(rule: str) -> str:
    """What a rule is about."""
    return rule.split(":", 1)[0]


def scala_run(suites: list[str]) -> Run:
    """From the reports of these suites, as far as there are any."""
    run = Run()
    for suite in suites:
        for report in SCALA_REPORTS.glob(f"*.{suite}.xml"):
            for case in ET.parse(report).iter("testcase"):
                if named := NAMED.fullmatch(case.get("name", "")):
                    outcome(run, case).add(named[1])
                    run.lacks[named[1]] = named[2].split(", ") if named[2] else []
    return run.settle()


def outcome(run: Run, case: ET.Element) -> set[str]:
    """Where a test belongs."""
    if case.find("skipped") is not None:
        return run.skipped
    failed = case.find("failure") is not None or case.find("error") is not None
    return run.broken if failed else run.kept


def boto3_run(report: Path = BOTO3_REPORT) -> Run:
    """A test is a rule of each operation that it called."""
    run = Run()
    for case in ET.parse(report).iter("testcase") if report.exists() else []:
        for operation in properties(case, "called"):
            rule = f"{operation}: {case.get('name')}"
            outcome(run, case).add(rule)
            run.lacks[rule] = []
    return run.settle()


def known_operations(report: Path = BOTO3_REPORT) -> set[str]:
    """What the simulator says it serves."""
    cases = ET.parse(report).iter("testcase") if report.exists() else []
    return {name for case in cases for name in properties(case, "served")}


def properties(case: ET.Element, name: str) -> list[str]:
    """The values of a test's properties."""
    return [p.get("value", "") for p in case.iter("property") if p.get("name") == name]


def reasons(readme: str) -> dict[str, dict[str, str]]:
    """Of each server, what it does otherwise, by the capability it lacks."""
    found = REASONS.search(readme)
    lines = found[0].splitlines() if found else []
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    by_server: dict[str, dict[str, str]] = {name: {} for name in rows[0][1:]}
    for capability, *cells in rows[2:]:
        said = ""
        for server, cell in zip(by_server, cells, strict=True):
            said = said if cell == SAME else cell
            if said:
                by_server[server][capability.strip("`")] = said
    return by_server


def deviations(name: str, run: Run, reasons: dict[str, str]) -> list[str]:
    """Why rules were left out, and which."""
    by_lack = defaultdict(list)
    for rule in sorted(run.skipped):
        unsaid = [lack for lack in run.lacks[rule] if lack not in reasons]
        if unsaid or not run.lacks[rule]:
            sys.exit(f"Why does {name} skip '{rule}'? README.md's table has no cell for {unsaid}.")
        by_lack[tuple(run.lacks[rule])].append(rule)
    return [
        f"  - {'; '.join(f'{reasons[lack]} (`{lack}`)' for lack in lacks)}: "
        + "; ".join(f"*{rule}*" for rule in rules)
        for lacks, rules in sorted(by_lack.items())
    ]


def servers() -> dict[str, Run]:
    """All columns."""
    return {**{name: scala_run(suites) for name, suites in SERVERS.items()}, BOTO3: boto3_run()}


def table(runs: dict[str, Run], operations: set[str]) -> str:
    """The table and the deviations, as Markdown."""
    rows = [["operation", *runs], ["---"] * (len(runs) + 1)]
    rows += [[f"`{o}`", *(run.cell(o) for run in runs.values())] for o in sorted(operations)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    said = reasons(README.read_text(encoding="utf-8"))
    for name, run in runs.items():
        if run.skipped and name in SERVERS:
            lines += [
                "",
                f"- **{name}** does not keep:",
                *deviations(name, run, said.get(name, {})),
            ]
    return "\n".join(lines)


def made() -> str:
    """What the reports say now."""
    runs = servers()
    return table(runs, known_operations().union(*(run.operations() for run in runs.values())))


def written() -> str:
    """What README.md says."""
    text = README.read_text(encoding="utf-8")
    return text[text.index(BEGIN) + len(BEGIN) : text.index(END)].strip()


def cells(markdown: str) -> dict[tuple[str, str], str]:
    """By operation and server."""
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
    """Writes the table, or prints the suites."""
    if words == ["suites"]:
        print(" ".join(f"*.{suite}" for suites in SERVERS.values() for suite in suites))
        return
    text = README.read_text(encoding="utf-8")
    before, after = text[: text.index(BEGIN)], text[text.index(END) :]
    README.write_text(f"{before}{BEGIN}\n{made()}\n\n{after}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
