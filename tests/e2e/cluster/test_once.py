"""A stream that is copied exactly once: executors and drivers are killed, shards change."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections import Counter
from typing import TYPE_CHECKING

from tests.e2e.apps.cluster_queries import load
from tests.e2e.support.cluster import cluster_on_linux, work_folder
from tests.e2e.support.kpl import packed, read_by_agg, read_by_kcl
from tests.e2e.support.processes import executors, of_session
from tests.e2e.support.programs import application, run, told
from tests.e2e.support.streams import LOCAL, REGION, Stream, wait_for, wait_more

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = cluster_on_linux("finds processes in /proc")


# A batch or a task that runs again waits for 75 s before it reads back. In the second round, tasks
# run again, and executors are lost while a batch runs again.
def test_every_row_is_there_once(simulator: str, tmp_path: Path) -> None:
    source, target = Stream(simulator, shards=2), Stream(simulator, shards=2)
    arguments = (simulator, source.name, target.name, "once")
    with load(source, pause_seconds=0.2):
        for number in range(2):
            with application("copied", *arguments, folder=tmp_path) as driver:
                said = told(tmp_path)
                wait_more("rows", lambda: len(read_by_agg(target)), 100)
                for pid in executors(said["application"]).values():
                    os.kill(pid, signal.SIGKILL)
                (target.merge if number % 2 else target.split)()
                if number > 0:  # its tasks run again, in other executors
                    wait_more("rows", lambda: len(read_by_agg(target)), 100)
                for pid in said["pids"]:
                    os.kill(pid, signal.SIGKILL)
                driver.wait()
                wait_for("its executors have ended", lambda: not of_session(driver.pid))
            shutil.rmtree(work_folder(said["application"]))  # a killed driver does not remove it
    with application("copied", *arguments, folder=tmp_path) as driver:
        wait_for("every row", lambda: len(set(read_by_agg(target))) >= len(source.written))
        (tmp_path / "stop").touch()
        assert driver.wait(180) == 0
    expected = Counter(
        (it.key, json.dumps({"key": it.key, "n": it.n}).encode()) for it in source.written
    )
    assert sum(expected.values()) > 500
    assert any(not it.inside for it in packed(target)), "no marker: nothing was read back"
    assert Counter(read_by_agg(target)) == expected
    assert Counter(read_by_kcl(target)) == expected
    keys = {"AWS_ACCESS_KEY_ID": LOCAL.access_key_id, "AWS_SECRET_ACCESS_KEY": "local"}
    command = [sys.executable, "-m", "spark_kinesis", "audit", "--stream", target.name]
    command += ["--region", REGION]
    shown = run([*command, "--endpoint", simulator], cwd=tmp_path, env={**os.environ, **keys})
    assert ": clean" in shown.stdout
