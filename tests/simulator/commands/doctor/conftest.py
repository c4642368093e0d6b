"""Fixtures: a local Kinesis whose time stands still, and checkpoints."""

from __future__ import annotations

import json
from datetime import timezone
from typing import TYPE_CHECKING

import pytest

from spark_kinesis._offsets import ShardOffset, SourceOffset, StreamOffset, encode
from spark_kinesis.local import LocalKinesis
from spark_kinesis.tools import doctor
from spark_kinesis.tools.facts.streams import describe
from tests.simulator.calls import client_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from spark_kinesis.tools.examination import Report


@pytest.fixture(scope="module")
def server() -> Iterator[LocalKinesis]:
    with LocalKinesis(clock="simulated") as kinesis:
        yield kinesis


@pytest.fixture
def local(server: LocalKinesis) -> Iterator[LocalKinesis]:
    """A local Kinesis whose time stands still, with the stream `orders`."""
    server.create("orders", 2)
    yield server
    server.clear_faults()
    server.delete("orders")


@pytest.fixture
def look(local: LocalKinesis) -> Callable[..., Report]:
    return lambda *stream, **more: doctor(*stream, endpoint=local.endpoint, **more)


@pytest.fixture
def checkpoint(local: LocalKinesis, tmp_path: Path) -> Callable[..., str]:
    """Writes a checkpoint with one completed micro-batch, and returns its folder."""

    def write(created: str | None = None, **shards: ShardOffset) -> str:
        stream = describe(client_of(local.endpoint), "orders")
        known = {it.replace("_", "-"): offset for it, offset in shards.items()}
        text = created or stream.created.astimezone(timezone.utc).isoformat()[:-6] + "Z"
        offset = SourceOffset(streams={stream.arn: StreamOffset(created=text, shards=known)})
        millis = int(local.now.timestamp() * 1000)
        for folder, lines in (
            ("offsets", ["v1", json.dumps({"batchTimestampMs": millis}), encode(offset)]),
            ("commits", ["v1", "{}"]),
        ):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / "3").write_text("\n".join(lines))
        return str(tmp_path)

    return write
