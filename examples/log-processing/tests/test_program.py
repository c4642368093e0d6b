"""The job as a program: `spark-submit` by its path, planned stops, and kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import aws
import pytest

from log_processing.demo import processes
from spark_kinesis import jar_path
from spark_kinesis.local import LocalKinesis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

JOB = Path(__file__).resolve().parents[1] / "log_processing" / "job.py"
SPARK_SUBMIT = Path(sys.executable).with_name("spark-submit")
PATIENCE_SECONDS = 180.0
KEYS = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}


@contextmanager
def job(options: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The program in a session of its own, with all its processes."""
    command = [str(SPARK_SUBMIT), "--master", "local[2,4]", "--jars", jar_path()]
    command += ["--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=2"]
    with (folder / "job.log").open("ab") as log:
        process = subprocess.Popen(
            [*command, str(JOB), *options],
            cwd=folder,
            env={**os.environ, **KEYS},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the driver and its Python workers. Workers are in groups of their own."""
    for child in below(process):
        signal_to(child.pid, signal.SIGKILL)
    signal_to(process.pid, signal.SIGKILL)
    process.wait()


def below(process: subprocess.Popen[bytes]) -> list[processes.Process]:
    return processes.below(process.pid, processes.running())


def signal_to(process: int, number: int) -> None:
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return


def wait_until(what: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not what():
        assert process.poll() is None, "the job has ended"
        assert time.monotonic() < deadline, "the job makes no progress"
        time.sleep(0.2)


def put(kinesis: LocalKinesis, first: int, count: int) -> None:
    now_ms = time.time_ns() // 1_000_000
    for number in range(first, first + count):
        fields = {"timestamp": now_ms, "level": "ERROR", "service": "a", "message": str(number)}
        kinesis.put("logs", [(str(number), json.dumps(fields))])


def stored(endpoint: str) -> list[str]:
    return [item["message"]["S"] for item in aws.items(endpoint) if "message" in item]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
def test_nothing_is_lost_or_stored_twice_whatever_is_killed(moto: str, tmp_path: Path) -> None:
    with LocalKinesis(streams={"logs": 2}) as kinesis:
        options = ["--streams=logs", f"--table={aws.TABLE}", f"--bus={aws.BUS}"]
        options += [f"--checkpoint={tmp_path / 'checkpoint'}", f"--bad-events={tmp_path / 'bad'}"]
        options += [f"--kinesis-endpoint={kinesis.endpoint}"]
        options += [f"--dynamodb-endpoint={moto}", f"--events-endpoint={moto}"]

        with job(options, tmp_path) as process:
            put(kinesis, 0, 50)
            wait_until(lambda: len(stored(moto)) == 50, process)
            for worker in processes.python_workers(below(process)):
                signal_to(worker.pid, signal.SIGKILL)
            put(kinesis, 50, 50)
            wait_until(lambda: len(stored(moto)) > 50, process)
            kill(process)
        put(kinesis, 100, 50)
        with job(options, tmp_path) as process:
            wait_until(lambda: len(stored(moto)) == 150, process)
            process.send_signal(signal.SIGTERM)
            # spark-submit is the JVM, which ends like this after the query has stopped.
            assert process.wait(PATIENCE_SECONDS) == 128 + signal.SIGTERM
        put(kinesis, 150, 50)
        with job([*options, "--once"], tmp_path) as process:
            assert process.wait(PATIENCE_SECONDS) == 0

    assert sorted(map(int, stored(moto))) == list(range(200))
    assert aws.published(moto) >= 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("--table=none", "Table 'none' does not exist."),
        ("--bad-events=/dev/null/bad", "Folder of bad events '/dev/null/bad' cannot be written."),
    ],
)
def test_the_program_names_what_is_missing_and_ends(
    moto: str, tmp_path: Path, change: str, problem: str
) -> None:
    with LocalKinesis(streams={"logs": 1}) as kinesis:
        options = ["--streams=logs", f"--table={aws.TABLE}", f"--bus={aws.BUS}", "--checkpoint=c"]
        options += ["--bad-events=b", f"--kinesis-endpoint={kinesis.endpoint}"]
        options += [f"--dynamodb-endpoint={moto}", f"--events-endpoint={moto}", change]
        with job(options, tmp_path) as process:
            assert process.wait(PATIENCE_SECONDS) == 1
    said = (tmp_path / "job.log").read_text()
    assert f"log_processing: {problem}" in said
    assert "Traceback" not in said
