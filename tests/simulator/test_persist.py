"""The data of a process that was killed, in the next process."""

from __future__ import annotations

import subprocess
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from spark_kinesis.local._kinesis import command, ready_endpoint
from tests.simulator.calls import client_of, read, shards


@contextmanager
def killed(directory: Path) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """A server that stores its streams in a folder, and a client. It ends by SIGKILL."""
    words = [*command({"kept": 2}, port=0), "--persist", str(directory)]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        endpoint = ready_endpoint(process, deque())
        assert endpoint, "the simulator did not start"
        yield process, client_of(endpoint)
    finally:
        process.kill()
        process.wait(60)  # the thread that reads its output ends too
        if process.stdin is not None:
            process.stdin.close()


def everything(kinesis: Any) -> dict[tuple[str, str], bytes]:
    """All records by shard and sequence number."""
    return {
        (shard["ShardId"], record["SequenceNumber"]): record["Data"]
        for shard in shards(kinesis, "kept")
        for record in read(kinesis, "kept", shard["ShardId"])
    }


def test_acknowledged_records_survive_a_kill(tmp_path: Path) -> None:
    acknowledged: dict[tuple[str, str], bytes] = {}
    enough = threading.Event()

    def write(kinesis: Any) -> None:
        """Write until the server has ended."""
        number = 0
        while True:
            data = [f"{number}-{i}".encode() * 100 for i in range(50)]
            entries = [{"Data": d, "PartitionKey": d[:8].decode()} for d in data]
            try:
                answer = kinesis.put_records(StreamName="kept", Records=entries)
            except (BotoCoreError, ClientError):
                return
            for d, result in zip(data, answer["Records"], strict=True):
                acknowledged[result["ShardId"], result["SequenceNumber"]] = d
            number += 1
            if number == 20:
                enough.set()

    with killed(tmp_path) as (process, kinesis):
        writer = threading.Thread(target=write, args=(kinesis,), daemon=True)
        writer.start()
        assert enough.wait(60)
        process.kill()
        writer.join(60)
        assert not writer.is_alive()
    assert len(acknowledged) >= 1000

    with killed(tmp_path) as (_, kinesis):
        kept = everything(kinesis)
        assert acknowledged.items() <= kept.items()
        kinesis.split_shard(
            StreamName="kept", ShardToSplit="shardId-000000000000", NewStartingHashKey=str(2**100)
        )
        put = kinesis.put_record(StreamName="kept", Data=b"later", PartitionKey="k")
        kept[put["ShardId"], put["SequenceNumber"]] = b"later"

    with killed(tmp_path) as (_, kinesis):
        assert everything(kinesis) == kept
        assert len(shards(kinesis, "kept")) == 4


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("my diary")
    words = [*command({}, port=0), "--persist", str(tmp_path)]
    said = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert said.returncode == 1
    assert "not a journal of a local Kinesis" in said.stderr
    assert (tmp_path / "journal").read_text() == "my diary"
