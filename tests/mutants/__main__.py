"""Applies each fault of `table.py` to a copy of the code, and shows which test notices it.

`make mutants` applies all, and `make mutants ONLY=name,name` some. The last line is the sum,
`N killed, N survived, N invalid`. The exit status is 0 if all were killed.

The copy, in `target/mutants`, has the files of the working tree, committed or not. So the working
tree never changes. The copy keeps its compiled classes: the first run compiles everything, and a
mutant costs its incremental compilation and one suite. One sbt runs all commands. Before the first
fault, all suites must be green.

A mutant is killed if a test fails, or if its suite, which ended without the fault, does not end. It
is invalid if it does not compile, or if its suite reports no test, because that says nothing about
the tests.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from tests.mutants.table import MUTANTS, PROJECTS, ROOT, Mutant
from tests.run_all import Tally, read

COPY = ROOT / "target/mutants"
BASELINE_SECONDS = 1800.0  # may compile everything
MUTANT_SECONDS = 300.0


class Sbt:
    """An sbt that asks for commands through a port, in a process group that Ctrl-C does not reach.

    After each command, sbt opens two connections: it says whether the command succeeded, and then
    reads the next one.
    """

    def __init__(self, folder: Path) -> None:
        """Start it in a copy of the repository."""
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(0.2)
        self._question: socket.socket | None = None
        self.log = folder / "target/mutants.log"
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [folder / "project/sbt", f"<{self._server.getsockname()[1]}"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, "SPARK_KINESIS_TESTS": "quick"},
            )

    def run(self, command: str, seconds: float) -> bool:
        """Whether a command ends in time. If sbt itself has ended, it does not."""
        until = time.monotonic() + seconds
        if self._question is None:
            self._await_question(until)
        if self._question is None:
            return False
        with self._question as question:
            question.sendall(f"{command}\n".encode())
        self._await_question(until)
        return self._question is not None

    def _await_question(self, until: float) -> None:
        self._question = None
        result = self._accept(until)
        if result is not None:
            with result:
                result.recv(16)  # the reports of the tests say more
            self._question = self._accept(until)

    def _accept(self, until: float) -> socket.socket | None:
        while time.monotonic() < until:
            if self.has_ended():
                return None
            try:
                connection, _ = self._server.accept()
            except TimeoutError:
                continue
            connection.settimeout(None)
            return connection
        return None

    def has_ended(self) -> bool:
        """Whether it has ended by itself."""
        return self._process.poll() is not None

    def close(self) -> None:
        """End it with its children."""
        self._server.close()
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def copy_to(folder: Path) -> None:
    """Make a folder equal to the working tree. Leaves equal files and what was built there."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    names = {name for name in listed.stdout.split("\0") if (ROOT / name).is_file()}
    known = folder / "target/mutants.files"
    if known.is_file():
        for gone in set(known.read_text(encoding="utf-8").splitlines()) - names:
            (folder / gone).unlink(missing_ok=True)
    for name in names:
        source, copy = ROOT / name, folder / name
        if not copy.is_file() or source.read_bytes() != copy.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)
    known.parent.mkdir(parents=True, exist_ok=True)
    known.write_text("\n".join(sorted(names)), encoding="utf-8")
    if not (folder / ".venv").exists():
        (folder / ".venv").symlink_to(ROOT / ".venv")


class Copy:
    """A copy of the code, in which mutants are tried."""

    def __init__(self, folder: Path) -> None:
        """Start sbt in a folder with the code."""
        self.folder = folder
        self._sbt = Sbt(folder)

    def close(self) -> None:
        """End what runs in it."""
        self._sbt.close()

    def test(self, mutants: list[Mutant], seconds: float) -> dict[str, Tally] | None:
        """What became of each suite of some mutants that reported; `None` if one does not end."""
        suites = {mutant.suite: mutant.suite_file(self.folder) for mutant in mutants}
        reports = {name: report_of(self.folder, file) for name, file in suites.items() if file}
        for report in reports.values():
            report.unlink(missing_ok=True)
        for project, folder in PROJECTS.items():
            mine = [name for name, it in reports.items() if it.is_relative_to(self.folder / folder)]
            names = " ".join(f"*.{name}" for name in mine)
            if mine and not self._sbt.run(f"{project}/testOnly {names}", seconds):
                has_crashed = self._sbt.has_ended()
                self._sbt.close()
                self._sbt = Sbt(self.folder)
                return {} if has_crashed else None
        return {name: read(it) for name, it in reports.items() if it.is_file()}

    def try_out(self, mutant: Mutant) -> tuple[str, str]:
        """`killed`, `survived` or `invalid`, and by which test or why."""
        file = self.folder / mutant.path
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        printed = self.errors()
        try:
            tallies = self.test([mutant], MUTANT_SECONDS)
        finally:
            file.write_text(text, encoding="utf-8")
        if tallies is None:
            return "killed", f"{mutant.suite} does not end"
        tally = tallies.get(mutant.suite, Tally())
        if tally.failed:
            others = f", and {len(tally.failed) - 1} more" if len(tally.failed) > 1 else ""
            return "killed", tally.failed[0].rpartition(".")[2] + others
        if tally.passed:
            return "survived", f"{mutant.suite}: {tally}"
        why = "\n".join(self.errors()[len(printed) :])
        return "invalid", f"{mutant.suite} did not run\n{why}"

    def errors(self) -> list[str]:
        """The errors in sbt's log."""
        log = self._sbt.log.read_text(encoding="utf-8", errors="replace")
        return [line for line in log.splitlines() if line.startswith("[error]")]


def report_of(folder: Path, suite: Path) -> Path:
    """Where sbt reports what became of a suite."""
    project, _, name = suite.with_suffix("").as_posix().partition("/src/test/scala/")
    return folder / project / "target/test-reports" / f"TEST-{name.replace('/', '.')}.xml"


def chosen(names: list[str]) -> list[Mutant]:
    """The mutants with these names, or all."""
    if unknown := set(names) - {mutant.name for mutant in MUTANTS}:
        known = ", ".join(mutant.name for mutant in MUTANTS)
        sys.exit(f"Unknown mutants {', '.join(sorted(unknown))}: expected {known}.")
    return [mutant for mutant in MUTANTS if not names or mutant.name in names]


def main(names: list[str]) -> int:
    """Try the named mutants, or all of them."""
    mutants = chosen(names)
    if stale := [f"{it.name}: {why}" for it in mutants if (why := it.problem(ROOT))]:
        sys.exit("\n".join(["The table does not fit the code:", *stale]))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    copy_to(COPY)
    copy = Copy(COPY)
    try:
        return run(copy, mutants)
    finally:
        copy.close()


def run(copy: Copy, mutants: list[Mutant]) -> int:
    """The suites without a fault, and then each mutant."""
    print(f"== The suites of {len(mutants)} mutants, without a fault", flush=True)
    started = time.monotonic()
    tallies = copy.test(mutants, BASELINE_SECONDS) or {}
    failed = [name for tally in tallies.values() for name in tally.failed]
    silent = sorted(
        {it.suite for it in mutants} - {name for name, it in tallies.items() if it.passed}
    )
    if failed or silent:
        print(*failed, *(f"no test of {it} ran" for it in silent), *copy.errors(), sep="\n")
        print("The suites are not green without a fault.")
        return 1
    print(f"== All are green, {time.monotonic() - started:.0f} s", flush=True)
    rows = {"killed": 0, "survived": 0, "invalid": 0}
    for mutant in mutants:
        started = time.monotonic()
        result, by = copy.try_out(mutant)
        rows[result] += 1
        seconds = time.monotonic() - started
        print(f"{result:8} {seconds:4.0f} s  {mutant.name}: {by}", flush=True)
        if result == "survived":
            print(f"         No test proves this: {mutant.promise}", flush=True)
    print(", ".join(f"{count} {result}" for result, count in rows.items()))
    return 0 if rows["killed"] == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main([name for names in sys.argv[1:] for name in names.split(",")]))
