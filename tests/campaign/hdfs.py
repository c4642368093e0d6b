"""An HDFS in one process, which a test pauses, or kills and starts again."""

from __future__ import annotations

import signal
import socket
import subprocess
import zipfile
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from tests.campaign.hadoop import JARS, hadoop_jars
from tests.e2e.support.streams import wait_for
from tests.spark_versions import java

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from pathlib import Path

PAUSE, RESTART = "pauses of HDFS", "kills of HDFS"
STARTS_WITHIN_SECONDS = 600.0


class Hdfs:
    """A name node and a data node."""

    name = "HDFS"
    kinds = (PAUSE, RESTART)

    def __init__(self, folder: Path) -> None:
        """Prepare. Nothing listens yet.

        Args:
            folder: for its files and its log.
        """
        self._folder = folder
        self._process: subprocess.Popen[bytes]
        with closing(socket.socket()) as any_port:
            any_port.bind(("127.0.0.1", 0))
            self._port = any_port.getsockname()[1]

    @contextmanager
    def running(self) -> Iterator[Hdfs]:
        """Run an empty one."""
        self._start("-format")
        try:
            yield self
        finally:
            self._kill()

    @contextmanager
    def outage(self, kind: str, _chance: random.Random) -> Iterator[None]:
        """Pause HDFS, or kill it, until the block ends. Then it runs again."""
        if kind == PAUSE:
            self._process.send_signal(signal.SIGSTOP)
            yield
            self._process.send_signal(signal.SIGCONT)
        else:
            self._kill()
            yield
            self._start()

    def settings(self) -> dict[str, str]:
        """Spark's settings. A client waits for a name node that is away."""
        return {
            "spark.hadoop.dfs.replication": "1",
            "spark.hadoop.dfs.client.retry.policy.enabled": "true",
        }

    @property
    def root(self) -> str:
        """The folder of the checkpoints."""
        return f"hdfs://127.0.0.1:{self._port}/checkpoints"

    def counts(self) -> dict[str, int]:
        """No counts of its own."""
        return {}

    def _start(self, *options: str) -> None:
        said = self._folder / "started.json"
        said.unlink(missing_ok=True)
        self._folder.mkdir(exist_ok=True)
        (jar,) = hadoop_jars("hadoop-client-minicluster", "-notransitive")
        pages = jar.parent / "webapps"
        if not pages.exists():  # otherwise each start unpacks the whole jar for them, twice
            with zipfile.ZipFile(jar) as all_files:
                names = (it for it in all_files.namelist() if it.startswith("webapps/"))
                part = jar.parent / "webapps.part"
                all_files.extractall(part, names)
            (part / "webapps").rename(pages)
        places = f"{jar.parent}:{jar}:{JARS}/*"
        command = [java(), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", places]
        command += ["org.apache.hadoop.test.MiniDFSClusterManager", *options]
        command += ["-nnport", str(self._port), "-datanodes", "1", "-writeDetails", str(said)]
        command += ["-D", f"hdfs.minidfs.basedir={self._folder}"]
        with (self._folder / "log").open("ab") as out:
            self._process = subprocess.Popen(
                command, cwd=self._folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )

        def is_up() -> bool:
            if self._process.poll() is not None:
                raise RuntimeError(f"HDFS has ended: see {self._folder / 'log'}")
            return said.exists() and said.stat().st_size > 0

        try:
            wait_for("HDFS runs", is_up, STARTS_WITHIN_SECONDS)
        except BaseException:
            self._kill()
            raise

    def _kill(self) -> None:
        self._process.kill()
        self._process.wait()
