"""Runs tests and ends with one line, `N passed, N failed[, N skipped]`.

`tests/scopes.py` says which parts of the tests a scope runs.

The numbers come from the JUnit XML reports that sbt and pytest write. A part counts as one more
failure if it fails without a failed test (a crash, code that does not compile), if it runs no test,
if a report cannot be read, or if it takes too long. The other parts still run.

Two lanes of parts run side by side, because many tests wait more than they compute. What a part
prints goes to `target/test-logs`. The runner prints why a test failed.

With the environment variable `SPARK_KINESIS_TEST_SECONDS`, a part that has not begun after so many
seconds is left out. The sum names it, and it does not count as a failure.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.scopes import SCOPES, Part, Scope

ROOT = Path(__file__).resolve().parent.parent
LOGS = "target/test-logs"
SHOWN_LINES = 60  # of a failure, and of the log of a part that failed without one
BUDGET_SECONDS = float(os.environ.get("SPARK_KINESIS_TEST_SECONDS", "inf"))
GRACE_SECONDS = 1800.0  # of a part that has begun within the budget
LIMIT_SECONDS = 2700.0  # of a part: more than twice what the longest one takes on two slow cores


@dataclass
class Tally:
    """What became of some tests."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list, compare=False)
    """Of each failed test."""

    def add(self, other: Tally) -> None:
        """Count others too."""
        self.passed += other.passed
        self.failed += other.failed
        self.reasons += other.reasons
        self.skipped += other.skipped

    def fail(self, name: str, reason: str) -> None:
        """Count a failure."""
        self.failed.append(name)
        self.reasons.append(reason)

    def __str__(self) -> str:
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        return f"{self.passed} passed, {len(self.failed)} failed{skipped}"


def run_scope(
    scope: Scope, budget_seconds: float, stopped: threading.Event
) -> tuple[Tally, list[str]]:
    """What became of all tests, and the parts that did not begin within the budget."""
    until = time.monotonic() + budget_seconds
    total, left_out = Tally(), []

    def run_lane(lane: list[Part]) -> None:
        for part in lane:
            left = until - time.monotonic()
            if stopped.is_set() or left <= 0:
                left_out.append(part.name)
                continue
            try:
                total.add(run(part, min(LIMIT_SECONDS, left + GRACE_SECONDS), stopped))
            except Exception as error:  # noqa: BLE001 - the other parts still run
                total.fail(f"{part.name}: {error!r}", "")

    with ThreadPoolExecutor() as pool:
        try:
            list(pool.map(run_lane, scope.lanes))
        except KeyboardInterrupt:
            stopped.set()
            raise
    run_lane(scope.last)
    return total, left_out


def run(
    part: Part, limit_seconds: float = LIMIT_SECONDS, stopped: threading.Event | None = None
) -> Tally:
    """What became of a part's tests."""
    for stale in reports_of(part):
        stale.unlink()
    log = ROOT / LOGS / f"{part.name}.log"
    print(f"== {part.name} writes {log.relative_to(ROOT)}", flush=True)
    started = time.monotonic()
    status = execute(part, log, limit_seconds, stopped or threading.Event())
    tally = Tally()
    for report in reports_of(part):
        tally.add(read(report))
    if status is None:
        tally.fail(f"{part.name}: not done within {limit_seconds:.0f} s, and ended", end_of(log))
    elif not tally.failed and (status != 0 or tally.passed == 0):
        reason = f"{part.name}: ended with status {status} and {tally.passed} passed tests"
        tally.fail(reason, end_of(log))
    told = [f"-- {name}\n{why}" for name, why in zip(tally.failed, tally.reasons, strict=True)]
    seconds = time.monotonic() - started
    print(*told, f"== {part.name}: {tally}, {seconds:.0f} s", sep="\n", flush=True)
    return tally


def reports_of(part: Part) -> list[Path]:
    """Its reports. `Path.glob` would fail if another part removes a folder meanwhile."""
    found = glob(part.reports, root_dir=ROOT, recursive=True)  # noqa: PTH207
    return sorted(ROOT / it for it in found)


def end_of(log: Path) -> str:
    """The last lines of a log."""
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-SHOWN_LINES:])


def execute(part: Part, log: Path, limit_seconds: float, stopped: threading.Event) -> int | None:
    """A command's exit status; nothing where it took too long, and was ended with its children."""
    log.parent.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + limit_seconds
    with log.open("wb") as output:
        process = subprocess.Popen(
            part.command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C does not reach it
            env={**os.environ, **part.environment},
        )
        try:
            while process.poll() is None and time.monotonic() < until and not stopped.wait(0.1):
                pass
            return process.returncode
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def read(report: Path) -> Tally:
    """The tests of a report; one that cannot be read is a failure."""
    tally = Tally()
    try:
        root = ET.parse(report).getroot()
    except (ET.ParseError, OSError) as error:
        tally.fail(f"{report.name} cannot be read: {error}", "")
        return tally
    for case in root.iter("testcase"):
        name = f"{case.get('classname')}: {case.get('name')}"
        failures = [*case.iter("failure"), *case.iter("error")]
        if failures:
            text = failures[0].text or failures[0].get("message") or ""
            tally.fail(name, "\n".join(text.splitlines()[-SHOWN_LINES:]))
        elif case.find("skipped") is not None:
            tally.skipped.append(name)
        else:
            tally.passed += 1
    return tally


def main(scope: str, *names: str) -> int:
    """Run the named parts of a scope, or all of them."""
    if scope not in SCOPES:
        sys.exit(f"Unknown scope '{scope}': expected {' or '.join(SCOPES)}.")
    parts = [part.name for part in SCOPES[scope].parts()]
    if unknown := set(names) - set(parts):
        sys.exit(f"Unknown parts {', '.join(sorted(unknown))}: expected {', '.join(parts)}.")
    total, left_out = run_scope(SCOPES[scope].only(names), BUDGET_SECONDS, threading.Event())
    for name in left_out:
        print(f"left out: {name}, because it had not begun in time")
    for skipped in total.skipped:
        print(f"skipped: {skipped}")
    for failed in total.failed:
        print(f"failed: {failed}")
    print(total)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["quick"])))
