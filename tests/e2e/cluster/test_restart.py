"""A driver that is killed and restarted from its checkpoint."""

from __future__ import annotations

import os
import shutil
import signal
from typing import TYPE_CHECKING

from tests.e2e.apps.restarted import results
from tests.e2e.support.cluster import cluster_on_linux, work_folder
from tests.e2e.support.processes import executors, of_session
from tests.e2e.support.programs import application, told
from tests.e2e.support.streams import FENCE, Stream, wait_for
from tests.e2e.support.verdict import assert_exactly_once_in_order

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = cluster_on_linux("finds processes in /proc")


def test_a_killed_driver_loses_no_record_and_leaves_no_process(
    simulator: str, tmp_path: Path
) -> None:
    stream = Stream(simulator, shards=4)
    stream.put(200)
    arguments = (stream.endpoint, stream.name)
    with application("restarted", *arguments, folder=tmp_path) as first:
        said = told(tmp_path)
        wait_for("its first rows", lambda: arrived(stream, tmp_path) > 0)
        (tmp_path / "hold").touch()
        stream.put(400)
        wait_for("a batch is written", lambda: any(tmp_path.glob("held-*")))
        assert len(executors(said["application"])) == 2
        for pid in said["pids"]:
            os.kill(pid, signal.SIGKILL)
        first.wait()
        wait_for("its executors have ended", lambda: not of_session(first.pid))
    shutil.rmtree(work_folder(said["application"]))  # a killed driver does not remove it
    (tmp_path / "hold").unlink()
    stream.put(400)
    with application("restarted", *arguments, folder=tmp_path) as second:
        wait_for("every row", lambda: arrived(stream, tmp_path) == len(stream.written))
        stream.fence()
        wait_for("all fences", lambda: len(results(tmp_path)) == len(stream.written) + 4)
        (tmp_path / "stop").touch()
        assert second.wait(60) == 0
        wait_for("nothing of it is left", lambda: not of_session(second.pid))
    assert any(tmp_path.glob("again-*")), "no batch was run again"
    rows = [row for row in results(tmp_path) if row.key != FENCE]
    assert_exactly_once_in_order(stream.written, rows)


def arrived(stream: Stream, folder: Path) -> int:
    """The number of records in the files."""
    return len(
        {(row.key, row.n) for row in results(folder)} & {(w.key, w.n) for w in stream.written}
    )
