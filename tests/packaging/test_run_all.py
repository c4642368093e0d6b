"""The sum of all test results: everything that must count as a failure does."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from tests import run_all
from tests.run_all import Tally, run, run_scope
from tests.scopes import Part, Scope

CASES = """<testsuites><testsuite><testcase classname="a" name="good"/>
<testcase classname="a" name="bad"><failure/></testcase>
<testcase classname="a" name="worse"><error/></testcase>
<testcase classname="a" name="left out"><skipped/></testcase></testsuite></testsuites>"""
GOOD = '<testsuite><testcase classname="a" name="good"/></testsuite>'


@pytest.fixture(autouse=True)
def _root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_all, "ROOT", tmp_path)


def part(*reports: str, then: str = "") -> Part:
    """A part that writes reports and then runs some code."""
    writes = "".join(f"open('{n}.xml', 'w').write({text!r});" for n, text in enumerate(reports))
    return Part(name="p", command=[sys.executable, "-c", writes + then], reports="*.xml")


def test_each_case_counts_once() -> None:
    expected = Tally(passed=2, failed=["a: bad", "a: worse"], skipped=["a: left out"])
    assert run(part(CASES, GOOD)) == expected
    assert str(expected) == "2 passed, 2 failed, 1 skipped"
    assert str(Tally(2)) == "2 passed, 0 failed"


def test_a_report_that_cannot_be_read_is_a_failure() -> None:
    tally = run(part(GOOD, "<testsuite><testc"))
    assert (tally.passed, len(tally.failed)) == (1, 1)
    assert "1.xml cannot be read" in tally.failed[0]


def test_a_crash_is_a_failure_once() -> None:
    crashed = Tally(passed=1, failed=["p: ended with status 3 and 1 passed tests"])
    assert run(part(GOOD, then="raise SystemExit(3)")) == crashed
    assert len(run(part(CASES, then="raise SystemExit(3)")).failed) == 2


def test_no_report_is_a_failure_and_old_reports_do_not_count() -> None:
    Path(run_all.ROOT, "old.xml").write_text(GOOD, encoding="utf-8")
    assert run(part()) == Tally(failed=["p: ended with status 0 and 0 passed tests"])


def test_a_part_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    child = "import subprocess, sys; p = subprocess.Popen(['sleep', '600']);"
    child += "open('pid', 'w').write(str(p.pid)); p.wait()"
    late = Tally(passed=1, failed=["p: not done within 10 s, and ended"])
    assert run(part(GOOD, then=child), limit_seconds=10) == late
    pid = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 10
    while is_running(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_part_that_has_not_begun_in_time_is_left_out_and_named() -> None:
    scope = Scope([[part(GOOD, then="import time; time.sleep(0.2)"), part(CASES)]])
    assert run_scope(scope, 0.1, threading.Event()) == (Tally(passed=1), ["p"])
    total, left_out = run_scope(scope, float("inf"), threading.Event())
    assert (total.passed, left_out) == (2, [])


def test_an_error_of_the_runner_is_a_failure_and_the_other_parts_run() -> None:
    missing = Part(name="q", command=["a-program-that-is-not-there"], reports="q.xml")
    total, left_out = run_scope(Scope([[missing, part(GOOD)]]), float("inf"), threading.Event())
    assert (total.passed, len(total.failed), left_out) == (1, 1, [])
    assert total.failed[0].startswith("q: FileNotFoundError")


def test_lanes_run_side_by_side_and_the_last_parts_after_them() -> None:
    def waiting(name: str, *, makes: str, needs: str) -> Part:
        code = f"import os, time\nopen('{makes}', 'w')\n"
        code += f"while not os.path.exists('{needs}'): time.sleep(0.01)\n"
        code += f"open('{name}.xml', 'w').write({GOOD!r})"
        return Part(name=name, command=[sys.executable, "-c", code], reports=f"{name}.xml")

    lanes = [[waiting("a", makes="x", needs="y")], [waiting("b", makes="y", needs="x")]]
    last = waiting("c", makes="z", needs="b.xml")
    total, _ = run_scope(Scope(lanes, [last]), float("inf"), threading.Event())
    assert str(total) == "3 passed, 0 failed"


def test_it_prints_why_a_test_failed_and_the_end_of_the_log_of_a_crash(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(part(GOOD.replace("/></", "><failure>1 is not 2</failure></testcase></")))
    assert "-- a: good\n1 is not 2\n" in capsys.readouterr().out
    run(part(GOOD, then="print('passed'); raise ValueError('broken')"))
    assert "ValueError: broken" in capsys.readouterr().out


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat")
        return not (state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] == "Z")
    except (ProcessLookupError, FileNotFoundError):
        return False
