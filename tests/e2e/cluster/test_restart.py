"""A driver that is killed and restarted from its checkpoint."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.e2e.apps.restarted import results
from tests.e2e.support.cluster import work_folder
from tests.e2e.support.processes import executors, of_session
from tests.e2e.support.programs import FOLDER
from tests.e2e.support.streams import FENCE, Stream, wait_for
from tests.e2e.support.verdict import assert_exactly_once_in_order

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc"),
]


def test_a_killed_driver_loses_no_record_and_leaves_no_process(
    simulator: str, tmp_path: Path
) -> None:
    stream = Stream(simulator, shards=4)
    stream.put(200)
    with application(stream, tmp_path) as first:
        wait_for("it runs", told_in(tmp_path).exists)
        wait_for("its first rows", lambda: arrived(stream, tmp_path) > 0)
        (tmp_path / "hold").touch()
        stream.put(400)
        wait_for("a batch is written", lambda: any(tmp_path.glob("held-*")))
        told = json.loads(told_in(tmp_path).read_text())
        assert len(executors(told["application"])) == 2
        for pid in told["pids"]:
            os.kill(pid, signal.SIGKILL)
        first.wait()
        wait_for("its executors have ended", lambda: not of_session(first.pid))
    shutil.rmtree(work_folder(told["application"]))  # a killed driver does not remove it
    told_in(tmp_path).unlink()
    (tmp_path / "hold").unlink()
    stream.put(400)
    with application(stream, tmp_path) as second:
        wait_for("it runs again", told_in(tmp_path).exists)
        wait_for("every row", lambda: arrived(stream, tmp_path) == len(stream.written))
        stream.fence()
        wait_for("all fences", lambda: len(results(tmp_path)) == len(stream.written) + 4)
        (tmp_path / "stop").touch()
        assert second.wait(60) == 0
        wait_for("nothing of it is left", lambda: not of_session(second.pid))
    assert any(tmp_path.glob("again-*")), "no batch was run again"
    rows = [row for row in results(tmp_path) if row.key != FENCE]
    assert_exactly_once_in_order(stream.written, rows)


def told_in(folder: Path) -> Path:
    """The output of the program, when it runs."""
    return folder / "running.json"


def arrived(stream: Stream, folder: Path) -> int:
    """The number of records in the files."""
    return len(
        {(row.key, row.n) for row in results(folder)} & {(w.key, w.n) for w in stream.written}
    )


@contextmanager
def application(stream: Stream, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the program in a process session, and check that no process of it stays."""
    command = [sys.executable, str(FOLDER / "restarted.py")]
    command += [stream.endpoint, stream.name, str(folder)]
    log = folder / "log"
    with (
        log.open("ab") as out,
        subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process
        except BaseException:
            sys.stderr.write(log.read_text(errors="replace")[-6000:])
            raise
        finally:
            for pid in of_session(process.pid):
                os.kill(pid, signal.SIGKILL)
