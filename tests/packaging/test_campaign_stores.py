"""The campaign's checkpoint stores: an S3 server that fails, and an HDFS that is killed."""

from __future__ import annotations

import http.client
import random
import socket
import subprocess
import time
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from botocore.exceptions import ClientError

from tests.campaign.hadoop import JARS
from tests.campaign.hdfs import Hdfs
from tests.campaign.s3 import BUCKET, ERRORS, FaultyS3
from tests.spark_versions import java

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.mark.parametrize("is_conditional", [True, False])
def test_an_s3_without_conditional_writes_overwrites_a_file(is_conditional: bool) -> None:
    with FaultyS3(is_conditional=is_conditional).running() as server:
        client = server.client()

        def put(body: bytes) -> None:
            client.put_object(Bucket=BUCKET, Key=server.root, Body=body, IfNoneMatch="*")

        put(b"first")
        if is_conditional:
            with pytest.raises(ClientError, match="PreconditionFailed"):
                put(b"second")
        else:
            put(b"second")
        there = client.get_object(Bucket=BUCKET, Key=server.root)["Body"].read()
        assert there == (b"first" if is_conditional else b"second")
        assert server.counts() == {"failed requests to S3": 0, "conditional writes": 2}


def test_an_s3_fails_until_its_trouble_ends() -> None:
    with FaultyS3(is_conditional=True).running() as server:
        with server.outage(ERRORS, random.Random(1)):
            statuses = [status_of(server) for _ in range(100)]
        assert statuses.count(200) > 50
        assert server.counts()["failed requests to S3"] == 100 - statuses.count(200) > 0
        assert {status_of(server) for _ in range(30)} == {200}


def status_of(server: FaultyS3) -> int:
    client = http.client.HTTPConnection(urlsplit(server.endpoint).netloc)
    with closing(client):
        client.request("GET", f"/{BUCKET}", headers={"Authorization": "AWS local:none"})
        return client.getresponse().status


def test_s3_sends_100_continue_once_per_request() -> None:
    with FaultyS3(is_conditional=True).running() as server:
        address = urlsplit(server.endpoint)
        with socket.create_connection((address.hostname, address.port), 60) as client:
            client.sendall(
                f"PUT /{BUCKET}/file HTTP/1.1\r\nHost: {address.netloc}\r\n"
                "Authorization: AWS local:none\r\nConnection: close\r\n"
                "Content-Length: 4\r\nExpect: 100-continue\r\n\r\nbody".encode()
            )
            answers = client.makefile("rb").read()
        assert [line.split()[1] for line in answers.splitlines() if line.startswith(b"HTTP")] == [
            b"100",
            b"200",
        ]


@pytest.mark.slow
def test_hdfs_answers_after_an_outage_and_keeps_its_files(tmp_path: Path) -> None:
    local = tmp_path / "local"
    local.write_text("first")
    with Hdfs(tmp_path / "hdfs").running() as store:
        shell = HadoopShell(store, tmp_path)
        with shell.running("-put", str(local), store.root) as writing:
            assert writing.wait(120) == 0
        began = time.monotonic()
        with shell.running("-cat", store.root) as reading:
            assert reading.communicate(timeout=120)[0] == b"first"
        usual_seconds = time.monotonic() - began
        for kind in store.kinds:
            with ExitStack() as until_read:
                with store.outage(kind, random.Random(1)):
                    reading = until_read.enter_context(shell.running("-cat", store.root))
                    with pytest.raises(subprocess.TimeoutExpired):
                        reading.wait(4 * usual_seconds)
                assert reading.communicate(timeout=120)[0] == b"first"


class HadoopShell:
    def __init__(self, store: Hdfs, folder: Path) -> None:
        properties = ""
        for name, value in store.settings().items():
            of_hadoop = name.removeprefix("spark.hadoop.")
            properties += f"<property><name>{of_hadoop}</name><value>{value}</value></property>"
        (folder / "core-site.xml").write_text(f"<configuration>{properties}</configuration>")
        self.program = [java(), "-Xmx256m", "-cp", f"{folder}:{JARS}/*"]

    @contextmanager
    def running(self, *command: str) -> Iterator[subprocess.Popen[bytes]]:
        program = [*self.program, "org.apache.hadoop.fs.FsShell", *command]
        with subprocess.Popen(program, stdout=subprocess.PIPE) as process:
            try:
                yield process
            finally:
                process.kill()
