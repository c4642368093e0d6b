"""Runs tests and ends with one line, `N passed, N failed, N skipped`, also in `target/test-sum`.

`tests/scopes.py` says which parts of the tests a scope runs.

The numbers come from the JUnit XML reports that sbt and pytest write. A part counts as one more
failure if it fails without a failed test (a crash, code that does not compile), if it runs no test,
if a report cannot be read, or if it takes too long. The other parts still run. A whole run of some
scopes also fails if a test that docs/architecture.md names did not run (`tests/invariants.py`).
A run of some scopes fails if a test was skipped for a reason that the scope does not allow.

Two lanes of parts run side by side, because many tests wait more than they compute. A lane that is
done takes the next part that belongs to no lane. What a part prints goes to `target/test-logs`. The
runner prints why a test failed.

With the environment variable `SPARK_KINESIS_TEST_SECONDS`, an optional part that has not begun
after so many seconds is left out. It counts as skipped, and the line before the sum names it. Every
other part has half an hour more. One that has not ended by then counts as a failure.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timezone
from glob import glob
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.invariants import unproven
from tests.scopes import SCOPES, Part, Scope

ROOT = Path(__file__).resolve().parent.parent
LOGS = "target/test-logs"
SUM = "target/test-sum"
MUTANTS = "target/mutants/"  # a copy of the code with faults: its reports prove nothing
SHOWN_LINES = 60  # of a failure, and of the log of a part that failed without one
BUDGET_SECONDS = float(os.environ.get("SPARK_KINESIS_TEST_SECONDS", "inf"))
GRACE_SECONDS = 1800.0  # after the budget, for all parts
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
        return f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"


def run_scope(
    scope: Scope, budget_seconds: float, stopped: threading.Event
) -> tuple[Tally, list[str]]:
    """What became of all tests, and the optional parts that were left out."""
    until = time.monotonic() + budget_seconds
    total, left_out = Tally(), []
    shared = iter(scope.shared)  # of all lanes, so that each part runs once

    def run_lane(lane: list[Part]) -> None:
        for part in chain(lane, shared):
            left = until - time.monotonic()
            if part.is_optional and left <= 0:
                left_out.append(part.name)
                total.skipped.append(f"{part.name}: left out")
                continue
            if stopped.is_set() or left + GRACE_SECONDS <= 0:
                total.fail(f"{part.name}: not begun in time", "")
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
    run_lane(scope.last)  # the shared parts are all taken
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
    status, cpu_seconds = execute(part, log, limit_seconds, stopped or threading.Event())
    tally = Tally(passed=0 if part.reports or status != 0 else 1)
    for report in reports_of(part):
        tally.add(read(report))
    if status is None:
        tally.fail(
            f"{part.name}: still running after {limit_seconds:.0f} s, so it was killed", end_of(log)
        )
    elif not tally.failed and (status != 0 or tally.passed == 0):
        reason = f"{part.name}: ended with status {status} and {tally.passed} passed tests"
        tally.fail(reason, end_of(log))
    told = [f"-- {name}\n{why}" for name, why in zip(tally.failed, tally.reasons, strict=True)]
    times = f"{time.monotonic() - started:.0f} s, {cpu_seconds:.0f} s of CPU"
    print(*told, f"== {part.name}: {tally}, {times}", sep="\n", flush=True)
    return tally


def reports_of(part: Part) -> list[Path]:
    """Its reports. `Path.glob` would fail if another part removes a folder meanwhile."""
    if not part.reports:
        return []
    found = glob(part.reports, root_dir=ROOT, recursive=True)  # noqa: PTH207
    return sorted(ROOT / it for it in found if not it.startswith(MUTANTS))


def end_of(log: Path) -> str:
    """The last lines of a log."""
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-SHOWN_LINES:])


def execute(
    part: Part, log: Path, limit_seconds: float, stopped: threading.Event
) -> tuple[int | None, float]:
    """A command's exit status and its seconds of CPU, with those of its children.

    There is no status where it took too long, and was ended with its children.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + limit_seconds
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("adopting.py")), *part.command],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C does not reach it
            env={**os.environ, **part.environment},
        )
        status: int | None = None
        try:
            while time.monotonic() < until and not stopped.wait(0.1):
                ended, code, usage = os.wait4(process.pid, os.WNOHANG)
                if ended:
                    status = process.returncode = os.waitstatus_to_exitcode(code)
                    return status, usage.ru_utime + usage.ru_stime
        finally:
            if status is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return None, 0.0


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
        elif (skipped := case.find("skipped")) is not None:
            reason = skipped.get("message") or ""
            if reason == "collection skipped":  # of a whole module: its text says why
                reason = " ".join((skipped.text or "").split())
            tally.skipped.append(f"{name}: {reason}" if reason else name)
        else:
            tally.passed += 1
    return tally


def first_seed() -> int:
    """The first seed of simulations that is not fixed: another one for each commit."""
    git = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"],  # noqa: S607
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    if git.returncode == 0:
        return int(git.stdout, 16)
    return int(datetime.now(timezone.utc).strftime("%Y%m%d0000"))


def wrongly_skipped(total: Tally, scope: Scope) -> list[str]:
    """The tests that were skipped for a reason that the scope does not allow."""
    if scope.may_skip is None:
        return []
    return [it for it in total.skipped if not re.search(scope.may_skip, it)]


def main(scope: str, *names: str) -> int:
    """Run the named parts of a scope, or all of them."""
    if scope not in SCOPES:
        sys.exit(f"Unknown scope '{scope}': expected {' or '.join(SCOPES)}.")
    parts = SCOPES[scope].parts()
    known = [part.name for part in parts]
    if unknown := set(names) - set(known):
        sys.exit(f"Unknown parts {', '.join(sorted(unknown))}: expected {', '.join(known)}.")
    (ROOT / SUM).unlink(missing_ok=True)
    print(f"FIRST_SEED={os.environ.setdefault('FIRST_SEED', str(first_seed()))}", flush=True)
    total, left_out = run_scope(SCOPES[scope].only(names), BUDGET_SECONDS, threading.Event())
    if SCOPES[scope].proves and not names:
        for lack in unproven([it for part in parts for it in reports_of(part)], scope == "ci"):
            total.fail(lack, "")
    for skipped in wrongly_skipped(total, SCOPES[scope]):
        total.skipped.remove(skipped)
        total.fail(f"{skipped}: this run must not skip it", "")
    if not total.passed and not total.failed:
        total.fail("no test passed", "")
    for skipped in total.skipped:
        print(f"skipped: {skipped}")
    for failed in total.failed:
        print(f"failed: {failed}")
    last = f"{total}\n"
    if left_out:
        last = f"left out for lack of time: {', '.join(left_out)}\n{last}"
    (ROOT / SUM).parent.mkdir(exist_ok=True)
    (ROOT / SUM).write_text(last, encoding="utf-8")
    print(last, end="")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["quick"])))
