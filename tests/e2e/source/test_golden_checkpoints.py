"""Checkpoints of each released version: a query of this version continues them exactly.

`tests/golden/checkpoints` has the checkpoints and the data of the local Kinesis. Kinesis keeps
records for a year at most, so that older checkpoints cannot be continued, and are not tried.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis.local import LocalKinesis
from tests.e2e.apps.copied import ONCE
from tests.e2e.support.harness import Collector, running
from tests.e2e.support.kpl import read_by_agg
from tests.e2e.support.streams import CONSUMERS, Stream, Written, wait_for
from tests.e2e.support.verdict import Collected, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "checkpoints"
VERSIONS = sorted(it.name for it in GOLDEN.iterdir() if re.match(r"\d", it.name))
LONGEST = timedelta(days=350)


@pytest.fixture(params=VERSIONS)
def release(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of what a release has left."""
    return Path(shutil.copytree(GOLDEN / request.param, tmp_path / request.param))


@pytest.fixture
def endpoint(release: Path) -> Iterator[str]:
    """A local Kinesis with the data of the release."""
    with LocalKinesis(persist=release / "kinesis") as kinesis:
        yield kinesis.endpoint


def rows_of(release: Path, kind: str) -> dict[str, Any]:
    """The rows of a query of the release, if its records are still there."""
    first = (release / kind / "checkpoint" / "offsets" / "0").read_text(encoding="utf-8")
    (millis,) = re.findall(r'"batchTimestampMs":(\d+)', first)
    written = datetime.fromtimestamp(int(millis) / 1000, timezone.utc)
    if datetime.now(timezone.utc) - written > LONGEST:
        older = "older" if release.name != VERSIONS[-1] else "newest"
        pytest.skip(f"the records of this {older} release have expired")
    return dict(json.loads((release / kind / "rows.json").read_text(encoding="utf-8")))


def existing(endpoint: str, name: str, written: list[Any], mode: str = "polling") -> Stream:
    """A stream of the release."""
    records = [Written(*it) for it in written]
    return Stream(endpoint, name=name, mode=mode, written=records, is_new=False)


def by_shard(rows: list[Collected]) -> dict[str, list[Collected]]:
    """The rows of each shard in their order. Tasks may hold the shards in any order."""
    return {shard: [it for it in rows if it.shard == shard] for shard in {it.shard for it in rows}}


def move_attempts(log: Path) -> None:
    """Exactly once, a checkpoint in another folder is another query: write this folder instead."""
    for file in log.iterdir():
        if file.suffix == ".crc":
            file.unlink()
        else:
            text = file.read_text(encoding="utf-8")
            file.write_text(re.sub(r"(?m)^file:.*$", f"file:{log}", text), encoding="utf-8")


@pytest.mark.parametrize("mode", CONSUMERS)
def test_a_query_of_a_release_continues(
    spark: SparkSession, release: Path, endpoint: str, mode: str
) -> None:
    said = rows_of(release, mode)
    stream = existing(endpoint, said["streams"][0], said["written"], mode)
    delivered = [Written(*it) for it in said["delivered"]]
    left = [it for it in stream.written if it not in set(delivered)]
    again = by_shard([Collected(*it) for it in said["again"]])
    assert delivered
    assert len(left) > len(said["again"]) > 0
    collector = Collector()
    with running(spark, stream.source(), release / mode / "checkpoint", collector) as query:
        collector.wait(query, left)
        collector.wait(query, stream.fence())
    batch = said["again"][0][0]
    assert by_shard([it for it in collector.rows if it.batch == batch]) == again
    good = {"lost": 0, "duplicated": 0, "out_of_order": 0, "foreign": 0}
    assert verdict(left, collector.numbered()) == good


@pytest.mark.slow  # a batch that runs again waits for 75 s before it reads back
def test_a_query_of_a_release_that_writes_exactly_once_continues(
    spark: SparkSession, release: Path, endpoint: str
) -> None:
    said = rows_of(release, "exactly-once")
    source, target = (existing(endpoint, name, said["written"]) for name in said["streams"])
    before = len(read_by_agg(target))
    assert 0 < before < len(source.written)
    rows = source.source().read_stream(spark).select("partitionKey", "data")
    checkpoint = release / "exactly-once" / "checkpoint"
    move_attempts(checkpoint / "spark-kinesis-sink")
    query = target.sink(**ONCE).write_stream(rows, checkpoint_location=checkpoint).start()
    try:
        wait_for(
            "every row",
            lambda: not query.isActive or len(set(read_by_agg(target))) >= len(source.written),
        )
        assert query.exception() is None
    finally:
        query.stop()
    found = Counter(json.loads(data)["n"] for _, data in read_by_agg(target))
    assert found == Counter(it.n for it in source.written)
