"""The command `spark-kinesis local`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spark_kinesis.local import LocalEndpoint

WORDS = [sys.executable, "-m", "spark_kinesis", "local"]


def refused(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*WORDS, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.usefixtures("_interruptible")
@pytest.mark.parametrize(("how", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, -signal.SIGTERM)])
def test_it_serves_until_a_signal(how: signal.Signals, status: int) -> None:
    words = [*WORDS, "orders:4", "--port", "0", "--quotas", "aws", "--heap", "256m"]
    # With this variable, each JVM would print that it has read it.
    env = {name: text for name, text in os.environ.items() if name != "JDK_JAVA_OPTIONS"}
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=env,
    ) as process:
        assert process.stdout
        assert process.stderr
        said = process.stdout.readline()
        kinesis = LocalEndpoint(said.removeprefix("listening on ").strip())
        assert len(kinesis.shards("orders")) == 4
        process.send_signal(how)
        assert process.wait(60) == status
        assert process.stderr.read() == ""  # the server writes to it too, so it has ended


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["orders:many"], "Invalid argument '--stream orders:many'"),
        (["orders:0"], "--stream orders:0: "),
        (["--port", "70000"], "70000 is not in the range 0<=x<=65535"),
        (["--heap", "much"], "Invalid maximum heap size: -Xmxmuch"),
        (["--behaviour", "empty-pages=2"], "Invalid argument '--empty-pages 2'"),
    ],
)
def test_a_wrong_argument_is_explained(arguments: list[str], complaint: str) -> None:
    said = refused(*arguments)
    assert said.returncode == 2
    assert complaint in said.stderr
    assert "Traceback" not in said.stderr


def test_a_failed_start_is_explained(endpoint: str, tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("my diary")
    port = endpoint.rsplit(":", 1)[1]
    ways = [
        (refused("--port", port), f"--port {port}: Address already in use"),
        (refused("a:20000"), "--stream a:20000: "),
        (refused("--persist", str(tmp_path)), "not a journal of a local Kinesis"),
        (refused(PATH="", JAVA_HOME=""), "needs Java 17 or newer: set JAVA_HOME"),
        (refused(SPARK_KINESIS_SIMULATOR_JAR="none"), "there is no such file"),
    ]
    for said, complaint in ways:
        assert said.returncode == 2, said
        assert complaint in said.stderr
        assert "Traceback" not in said.stderr
        assert "\tat " not in said.stderr  # no stack trace of Java
        assert said.stdout == ""
