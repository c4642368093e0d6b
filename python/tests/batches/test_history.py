"""What each micro-batch has read, from a hand-written checkpoint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spark_kinesis.tools.cli import run
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.facts.files import open_files
from spark_kinesis.tools.history import batches

ARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
CREATED = "2026-01-02T03:04:05Z"


def offset(shards: dict[str, str], created: str = CREATED) -> str:
    return json.dumps({"version": 1, "streams": {ARN: {"created": created, "shards": shards}}})


class Written:
    """A checkpoint that the test writes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def initial(self, shards: dict[str, str]) -> Written:
        return self.file("sources/0/initial-offset.json", offset(shards))

    def batch(self, number: int, shards: dict[str, str], **made: str) -> Written:
        head = ["v1", '{"batchTimestampMs":1767340800000}']
        self.file(f"offsets/{number}", "\n".join([*head, offset(shards, **made)]))
        return self.file(f"commits/{number}", "v1")

    def file(self, path: str, text: str) -> Written:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text)
        return self

    def checkpoint(self) -> Checkpoint:
        return Checkpoint(open_files(str(self.folder)))


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path)


def resharded(written: Written) -> Written:
    """A shard that is split in batch 1, and whose children are read from batch 2 on."""
    written.initial({"a": "trim_horizon"})
    written.batch(0, {"a": "10@1767340800123"})
    written.batch(1, {"a": "finished", "b": "trim_horizon", "c": "trim_horizon"})
    return written.batch(2, {"b": "20", "c": "trim_horizon@1767340800123"})


def test_each_batch_has_its_reads(written: Written) -> None:
    found = batches(resharded(written).checkpoint())
    reads = [[(it.shard, it.start, it.end) for it in batch.reads or ()] for batch in found]
    assert reads == [
        [("a", "trim_horizon", "10@1767340800123")],
        [("a", "10@1767340800123", "finished")],
        [("b", "trim_horizon", "20")],  # the time of c alone has changed: nothing was read
    ]
    assert all(batch.completed and batch.planned for batch in found)


def test_a_batch_that_was_not_completed_says_so(written: Written) -> None:
    checkpoint = resharded(written).checkpoint()
    (written.folder / "commits" / "2").unlink()
    assert [it.completed is None for it in batches(checkpoint)] == [False, False, True]


def test_the_start_of_the_oldest_batch_may_be_lost(written: Written) -> None:
    checkpoint = resharded(written).checkpoint()
    (written.folder / "offsets" / "0").unlink()
    found = batches(checkpoint)
    assert [(it.number, it.reads is None) for it in found] == [(1, True), (2, False)]


def test_the_last_batches_begin_after_the_one_before(written: Written) -> None:
    (found,) = batches(resharded(written).checkpoint(), last=1)
    assert (found.number, [it.shard for it in found.reads or ()]) == (2, ["b"])


def test_a_stream_that_was_made_again_was_not_read_between(written: Written) -> None:
    written.initial({"a": "5"}).batch(0, {"a": "10"}, created="2026-02-02T03:04:05Z")
    (found,) = batches(written.checkpoint())
    assert found.reads == ()


def test_a_stream_whose_creation_time_becomes_known_is_the_same(written: Written) -> None:
    written.initial({"a": "5"})
    written.batch(0, {"a": "10"}, created="1970-01-01T00:00:00Z").batch(1, {"a": "20"})
    found = [
        [(it.start, it.end) for it in batch.reads or ()] for batch in batches(written.checkpoint())
    ]
    assert found == [[("5", "10")], [("10", "20")]]


def test_a_batch_keeps_its_end_if_the_query_was_moved_after_it(written: Written) -> None:
    checkpoint = resharded(written).checkpoint()
    for number, time in enumerate(("20260103T", "20260104T")):
        aside = f"rewinds/{time}"
        text = (written.folder / "offsets" / "2").read_text()
        written.file(f"{aside}/offsets/2", text)
        written.file(f"{aside}/note.json", '{"afterBatch": 2}')
        written.batch(2, {"b": f"at:2026-01-0{number + 1}T00:00:00Z", "c": "trim_horizon"})
    written.batch(3, {"b": "7", "c": "trim_horizon"})
    found = batches(checkpoint)
    assert [(it.start, it.end) for it in found[2].reads or ()] == [("trim_horizon", "20")]
    assert [(it.start, it.end) for it in found[3].reads or ()] == [("at:2026-01-02T00:00:00Z", "7")]


def test_batches_takes_a_folder(written: Written) -> None:
    place = str(resharded(written).folder)
    assert [it.number for it in batches(place)] == [0, 1, 2]
    assert [it.number for it in batches(place, last=1)] == [2]


def test_the_command_prints_a_table(written: Written, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(resharded(written).folder)
    assert run(["batches", "--checkpoint", place]) == 0
    out = capsys.readouterr().out
    assert "2026-01-02 08:00:00 UTC" in out
    assert [line.split()[0] for line in out.splitlines()] == ["batch", "0", "1", "2"]


def test_the_command_prints_json(written: Written, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(resharded(written).folder)
    assert run(["batches", "--checkpoint", place, "--last", "2", "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [it["number"] for it in found] == [1, 2]
    assert found[1]["reads"] == [
        {"stream": "orders", "shard": "b", "start": "trim_horizon", "end": "20"}
    ]


def test_the_command_reads_a_log_with_names(
    written: Written, capsys: pytest.CaptureFixture[str]
) -> None:
    written.file("sources/orders/initial-offset.json", offset({"a": "trim_horizon"}))
    lines = ["v2", "{}", 'clicks:{"offset":4}', f"orders:{offset({'a': '10'})}"]
    written.file("offsets/0", "\n".join(lines))
    words = ["batches", "--checkpoint", str(written.folder), "--json"]
    for chosen in ([], ["--source", "orders"]):
        assert run([*words, *chosen]) == 0
        (shard,) = json.loads(capsys.readouterr().out)["reads"]
        assert (shard["start"], shard["end"]) == ("trim_horizon", "10")
    assert run([*words, "--source", "clicks"]) == 2
    assert "there is no source clicks. Its Kinesis sources are: orders" in capsys.readouterr().err


def test_a_source_that_is_not_there_is_named(
    written: Written, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["batches", "--checkpoint", str(resharded(written).folder), "--source", "3"]
    assert run(words) == 2
    assert "there is no source 3. Its Kinesis sources are: 0" in capsys.readouterr().err


def test_an_option_of_a_store_has_a_value(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["batches", "--checkpoint", "s3://bucket/orders", "--storage-option"]
    assert run([*words, "endpoint_url"]) == 2
    assert "is not an option such as endpoint_url=URL" in capsys.readouterr().err
    assert run([*words, "endpoint=http://127.0.0.1:1"]) == 2
    assert "Its options are endpoint_url, region, profile" in capsys.readouterr().err


def test_an_empty_folder_is_not_a_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["batches", "--checkpoint", str(tmp_path)]) == 2
    assert "it is not a checkpoint, or its query never ran" in capsys.readouterr().err
