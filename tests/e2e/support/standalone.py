"""A standalone cluster whose workers have different addresses, from the pyspark package.

A speculative copy never runs on its original's host, and a local cluster has but one.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.e2e.support.cluster import HOME
from tests.e2e.support.streams import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ADDRESSES = ("127.0.0.2", "127.0.0.3")
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
STARTED = "Starting Spark master at "
RECOVERED = "Recovery complete"


@contextmanager
def standalone(folder: Path) -> Iterator[str]:
    """Run a master and two workers, which work in a folder. Yields the address of the master."""
    with cluster(folder, cores=1) as running:
        yield running.address


@contextmanager
def cluster(folder: Path, *, cores: int) -> Iterator[Standalone]:
    """Run a master and two workers with some cores each, which work in a folder."""
    with ExitStack() as processes:
        running = Standalone(folder, cores, processes)
        running.start_master()
        for host in ADDRESSES:
            running.start_worker(host)
        yield running


@dataclass
class Standalone:
    """A cluster whose master and workers can be killed and started again."""

    folder: Path
    cores: int
    processes: ExitStack
    address: str = ""
    master: subprocess.Popen[bytes] = field(init=False)
    workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start_master(self) -> None:
        """Start a master, which knows workers and applications of the one before it."""
        log = self.folder / "master.log"
        port = self.address.rpartition(":")[2] or "0"
        master = daemon(log, MASTER, "--host", "127.0.0.1", "--port", port)
        self.master = self.processes.enter_context(master)
        self.address = said_address(self.master, log)

    def restart_master(self) -> None:
        """Kill the master, start another, and wait until workers and applications are back."""
        self.master.kill()
        self.master.wait()
        self.start_master()
        log = self.folder / "master.log"
        wait_for("the master is back", lambda: RECOVERED in log.read_text(errors="replace"))

    def start_worker(self, host: str) -> None:
        """Start the worker of an address."""
        where = ["--host", host, "--work-dir", str(self.folder / host)]
        size = ["--cores", str(self.cores), "--memory", "1g"]
        worker = daemon(self.folder / f"{host}.log", WORKER, *where, *size, self.address)
        self.workers[host] = self.processes.enter_context(worker)

    def restart_worker(self, host: str) -> None:
        """Kill the worker of an address, and start another. Its executors end with it."""
        self.workers[host].kill()
        self.workers[host].wait()
        self.start_worker(host)


@contextmanager
def daemon(log: Path, main: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run one process of the cluster, and end it."""
    command = [str(HOME / "bin" / "spark-class"), main, "--webui-port", "0", *arguments]
    state = log.with_name("master-state")
    recovery = {"Mode": "FILESYSTEM", "Directory": state}
    options = " ".join(f"-Dspark.deploy.recovery{it}={value}" for it, value in recovery.items())
    environment = {
        **os.environ,
        "SPARK_HOME": str(HOME),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_MASTER_OPTS": options,
    }
    with (
        log.open("wb") as out,
        subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()


def said_address(master: subprocess.Popen[bytes], log: Path) -> str:
    """The address of a master, when its log contains it.

    Raises:
        RuntimeError: with what it said, when it ended.
    """
    found = ""

    def is_said() -> bool:
        nonlocal found
        words = log.read_text(errors="replace")
        found = words.partition(STARTED)[2].partition("\n")[0].strip()
        if master.poll() is not None:
            raise RuntimeError(f"the master has ended: {words}")
        return bool(found)

    wait_for("the master listens", is_said)
    return found
