"""The sum of all test results: everything that must count as a failure does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests import run_all
from tests.run_all import SUM, Tally, first_seed, main, run, run_scope
from tests.scopes import MAY_SKIP, SCOPES, Part, Scope

CASES = """<testsuites><testsuite><testcase classname="a" name="good"/>
<testcase classname="a" name="bad"><failure/></testcase>
<testcase classname="a" name="worse"><error/></testcase>
<testcase classname="a" name="left out"><skipped message="no browser"/></testcase>
</testsuite></testsuites>"""
GOOD = '<testsuite><testcase classname="a" name="good"/></testsuite>'


@pytest.fixture(autouse=True)
def _root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_all, "ROOT", tmp_path)
    monkeypatch.setattr(run_all, "BUDGET_SECONDS", float("inf"))
    monkeypatch.setenv("FIRST_SEED", "1")


def part(*reports: str, then: str = "", name: str = "p", is_optional: bool = False) -> Part:
    """A part that writes reports and then runs some code."""
    writes = "".join(f"open('{n}.xml', 'w').write({text!r});" for n, text in enumerate(reports))
    command = [sys.executable, "-c", writes + then]
    return Part(name=name, command=command, reports="*.xml", is_optional=is_optional)


def test_each_case_counts_once() -> None:
    expected = Tally(passed=2, failed=["a: bad", "a: worse"], skipped=["a: left out: no browser"])
    assert run(part(CASES, GOOD)) == expected
    assert str(expected) == "2 passed, 2 failed, 1 skipped"
    assert str(Tally(2)) == "2 passed, 0 failed, 0 skipped"


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


def test_reports_of_code_with_faults_do_not_count() -> None:
    folder = Path(run_all.ROOT, run_all.MUTANTS)
    folder.mkdir(parents=True)
    (folder / "a.xml").write_text(GOOD, encoding="utf-8")
    faulty = Part(name="p", command=["true"], reports="**/*.xml")
    assert run(faulty) == Tally(failed=["p: ended with status 0 and 0 passed tests"])
    assert (folder / "a.xml").exists()


def test_a_part_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    child = "import subprocess, sys; p = subprocess.Popen(['sleep', '600']);"
    child += "open('pid', 'w').write(str(p.pid)); p.wait()"
    late = Tally(passed=1, failed=["p: still running after 10 s, so it was killed"])
    assert run(part(GOOD, then=child), limit_seconds=10) == late
    pid = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 10
    while is_running(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_command_without_reports_is_one_test() -> None:
    assert run(Part(name="p", command=["true"])) == Tally(passed=1)
    failed = Tally(failed=["p: ended with status 1 and 0 passed tests"])
    assert run(Part(name="p", command=["false"])) == failed


def test_when_time_is_short_optional_parts_are_skipped_and_all_others_run() -> None:
    scope = Scope([[part(GOOD), part(GOOD, name="site", is_optional=True)]])
    total, left_out = run_scope(scope, 0, threading.Event())
    assert (total, left_out) == (Tally(passed=1, skipped=["site: left out"]), ["site"])
    total, left_out = run_scope(scope, float("inf"), threading.Event())
    assert (str(total), left_out) == ("2 passed, 0 failed, 0 skipped", [])


def test_a_part_that_cannot_begin_in_time_is_a_failure() -> None:
    scope = Scope([[part(GOOD)]])
    total, left_out = run_scope(scope, -run_all.GRACE_SECONDS, threading.Event())
    assert (total, left_out) == (Tally(failed=["p: not begun in time"]), [])


def test_the_sum_comes_last_after_the_parts_that_were_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    optional = [part(CASES, name=name, is_optional=True) for name in ("site", "example")]
    monkeypatch.setitem(SCOPES, "some", Scope([[part(GOOD), *optional]]))
    monkeypatch.setattr(run_all, "BUDGET_SECONDS", 0)
    assert main("some") == 0
    last = "left out for lack of time: site, example\n1 passed, 0 failed, 2 skipped\n"
    assert capsys.readouterr().out.endswith(last)
    assert (tmp_path / SUM).read_text(encoding="utf-8") == last


def test_a_run_without_a_passed_test_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCOPES, "some", Scope([[part(CASES, is_optional=True)]]))
    monkeypatch.setattr(run_all, "BUDGET_SECONDS", 0)
    assert main("some") == 1


@pytest.mark.parametrize(("named", "status"), [((), 1), (("p",), 0)])
def test_a_whole_run_fails_if_a_named_test_did_not_run(
    monkeypatch: pytest.MonkeyPatch, named: tuple[str, ...], status: int
) -> None:
    monkeypatch.setitem(SCOPES, "some", Scope([[part(GOOD)]], proves=True))
    monkeypatch.setattr(run_all, "unproven", lambda *_: ["a lack"])
    assert main("some", *named) == status


@pytest.mark.parametrize(("allowed", "status"), [(None, 0), ("no browser$", 0), ("no Docker", 1)])
def test_a_test_is_skipped_for_allowed_reasons_only(
    monkeypatch: pytest.MonkeyPatch, allowed: str | None, status: int
) -> None:
    skips = '<testcase name="b"><skipped message="no browser"/></testcase></testsuite>'
    report = GOOD.replace("</testsuite>", skips)
    monkeypatch.setitem(SCOPES, "some", Scope([[part(report)]], may_skip=allowed))
    assert main("some") == status
    expected = f"1 passed, {status} failed, {1 - status} skipped\n"
    assert Path(run_all.ROOT, SUM).read_text(encoding="utf-8") == expected


MODULE = """<testsuite><testcase name="t"><skipped message="collection skipped">
('t.py', 9, "Skipped: could not import 'mypy.api': No module")</skipped></testcase></testsuite>"""


def test_ci_may_skip_what_this_machine_cannot_have_and_nothing_else() -> None:
    report = Path(run_all.ROOT, "module.xml")
    report.write_text(MODULE, encoding="utf-8")
    for allowed in (*run_all.read(report).skipped, "a: b: this Spark has no such mode"):
        assert re.search(MAY_SKIP, allowed), allowed
    others = (
        "a: b",
        "a: b: Chromium is not installed",
        "a: a class that this Spark lacks",
        "a: left out: c",
    )
    for other in (*others, "a: b: got empty parameter set"):
        assert re.search(MAY_SKIP, other) is None, other


def test_only_the_site_and_the_slow_tests_of_the_example_may_be_left_out() -> None:
    optional = {
        name: [part.name for part in scope.parts() if part.is_optional]
        for name, scope in SCOPES.items()
    }
    assert optional == {"ci": ["docs-site", "logs-slow"], "quick": [], "rest": [], "bench": []}
    assert [part.name for part in SCOPES["ci"].shared[-2:]] == optional["ci"]


def test_the_first_seed_comes_from_the_commit() -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q", str(run_all.ROOT)], check=True)
    commit = [*git, "-C", str(run_all.ROOT), "commit", "-q", "--allow-empty", "-m"]
    seeds = []
    for message in ("one", "another"):
        subprocess.run([*commit, message], check=True)
        seeds.append(first_seed())
    assert len({*seeds}) == 2
    assert all(0 <= seed < 1 << 32 for seed in seeds)


def test_the_time_of_a_process_counts_that_outlives_its_parent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    busy = "import time; [None for _ in iter(lambda: time.process_time() < 1.5, False)]"
    left = f"import subprocess; subprocess.Popen([{sys.executable!r}, '-c', {busy!r}])"
    run(part(GOOD, then=left))
    cpu = re.search(r" s, (\d+) s of CPU", capsys.readouterr().out)
    assert cpu
    assert int(cpu[1]) >= 1


def test_an_error_of_the_runner_is_a_failure_and_the_other_parts_run() -> None:
    refused = Part(name="q", command=["true"], environment={"A": "\0"})
    total, left_out = run_scope(Scope([[refused, part(GOOD)]]), float("inf"), threading.Event())
    assert (total.passed, len(total.failed), left_out) == (1, 1, [])
    assert total.failed[0].startswith("q: ValueError")


def waiting(name: str, *, makes: str, needs: str) -> Part:
    """A part that makes a file and does not end before another file is there."""
    code = f"import os, time\nopen('{makes}', 'w')\n"
    code += f"while not os.path.exists('{needs}'): time.sleep(0.01)\n"
    code += f"open('{name}.xml', 'w').write({GOOD!r})"
    return Part(name=name, command=[sys.executable, "-c", code], reports=f"{name}.xml")


def test_lanes_run_side_by_side_and_the_last_parts_after_them() -> None:
    lanes = [[waiting("a", makes="x", needs="y")], [waiting("b", makes="y", needs="x")]]
    last = waiting("c", makes="z", needs="b.xml")
    total, _ = run_scope(Scope(lanes, last=[last]), float("inf"), threading.Event())
    assert str(total) == "3 passed, 0 failed, 0 skipped"


def test_a_lane_that_is_done_runs_shared_parts() -> None:
    lanes = [[waiting("a", makes="x", needs="c.xml")], [waiting("b", makes="y", needs="x")]]
    shared = [waiting(name, makes="z", needs="b.xml") for name in ("c", "d")]
    total, _ = run_scope(Scope(lanes, shared), float("inf"), threading.Event())
    assert str(total) == "4 passed, 0 failed, 0 skipped"


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
