"""A driver that is killed and restarted from its checkpoint, by polling and by enhanced fan-out."""

from __future__ import annotations

import os
import shutil
import signal
from typing import TYPE_CHECKING, Any

from spark_kinesis.local import LocalEndpoint
from tests.e2e.apps.cluster_queries import load
from tests.e2e.apps.restarted import results
from tests.e2e.support.cluster import cluster_on_linux, work_folder
from tests.e2e.support.processes import executors, of_session
from tests.e2e.support.programs import application, told
from tests.e2e.support.streams import FAN_OUT, FENCE, POLLING, Stream, wait_for, wait_more
from tests.e2e.support.verdict import assert_exactly_once_in_order

if TYPE_CHECKING:
    import subprocess
    from contextlib import AbstractContextManager
    from pathlib import Path

pytestmark = cluster_on_linux("finds processes in /proc")


def test_a_killed_driver_loses_no_record_and_leaves_no_process(
    simulator: str, tmp_path: Path
) -> None:
    stream = Stream(simulator, shards=4)
    stream.put(200)
    with restarted(stream, tmp_path) as first:
        said = told(tmp_path)
        wait_for("its first rows", lambda: arrived(stream, tmp_path) > 0)
        batch = kill_in_batch(first, said, stream, tmp_path)
    stream.put(400)
    with restarted(stream, tmp_path) as second:
        assert_ends_with_every_row(second, stream, tmp_path)
    assert (tmp_path / f"again-{batch}").exists(), "the batch was not run again"


def test_killed_processes_a_reshard_and_changes_of_mode_lose_no_record(
    simulator: str, tmp_path: Path
) -> None:
    stream = Stream(simulator, shards=4)
    calls = [subscriptions(simulator)]
    held = []
    for mode in (FAN_OUT, POLLING):
        with restarted(stream, tmp_path, mode) as driver:
            said = told(tmp_path)
            with load(stream, pause_seconds=0.2):
                wait_more("rows", lambda: arrived(stream, tmp_path))
                lose_executor(said["application"])
                stream.split()
                stream.merge(2)
                wait_more("rows", lambda: arrived(stream, tmp_path), 40)
            held.append(kill_in_batch(driver, said, stream, tmp_path))
        calls.append(subscriptions(simulator))
    with restarted(stream, tmp_path, FAN_OUT) as last:
        assert_ends_with_every_row(last, stream, tmp_path)
    calls.append(subscriptions(simulator))
    assert all((tmp_path / f"again-{batch}").exists() for batch in held)
    assert calls[0] < calls[1] == calls[2] < calls[3]


def restarted(
    stream: Stream, folder: Path, mode: str = POLLING
) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """The program, which reads the stream in a mode."""
    return application("restarted", stream.endpoint, stream.name, mode, folder=folder)


def kill_in_batch(
    driver: subprocess.Popen[bytes], said: dict[str, Any], stream: Stream, folder: Path
) -> int:
    """Kill the program between the end of a batch and Spark's note of it. Returns the batch."""
    for old in folder.glob("held-*"):
        old.unlink()
    (folder / "hold").touch()
    stream.put(400)
    wait_for("a batch is written", lambda: any(folder.glob("held-*")))
    wait_for("two executors", lambda: len(executors(said["application"])) == 2)
    for pid in said["pids"]:
        os.kill(pid, signal.SIGKILL)
    driver.wait()
    wait_for("its executors have ended", lambda: not of_session(driver.pid))
    shutil.rmtree(work_folder(said["application"]))  # a killed driver does not remove it
    (folder / "hold").unlink()
    (held,) = folder.glob("held-*")
    return int(held.name.split("-")[1])


def assert_ends_with_every_row(
    driver: subprocess.Popen[bytes], stream: Stream, folder: Path
) -> None:
    """Check that each record is in the files once and in order, and that the program ends."""
    wait_for("every row", lambda: arrived(stream, folder) == len(stream.written))
    expected = len(stream.written) + len(stream.fence())
    wait_for("all fences", lambda: len(results(folder)) == expected)
    (folder / "stop").touch()
    assert driver.wait(60) == 0
    wait_for("nothing of it is left", lambda: not of_session(driver.pid))
    rows = [row for row in results(folder) if row.key != FENCE]
    assert_exactly_once_in_order(stream.written, rows)


def lose_executor(application: str) -> None:
    """Kill one of two executors, and wait for another one."""
    wait_for("two executors", lambda: len(executors(application)) == 2)
    lost, pid = min(executors(application).items())
    os.kill(pid, signal.SIGKILL)

    def is_replaced() -> bool:
        left = executors(application)
        return lost not in left and len(left) == 2

    wait_for("another executor", is_replaced)


def subscriptions(endpoint: str) -> int:
    """The number of subscriptions so far, of all streams."""
    return int(LocalEndpoint(endpoint).stats().calls.get("SubscribeToShard", 0))


def arrived(stream: Stream, folder: Path) -> int:
    """The number of records in the files."""
    return len(
        {(row.key, row.n) for row in results(folder)} & {(w.key, w.n) for w in stream.written}
    )
