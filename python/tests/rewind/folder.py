"""A checkpoint that a test writes by hand."""

from __future__ import annotations

from pathlib import Path

from spark_kinesis._offsets import SourceOffset, decode
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.facts.files import open_files
from spark_kinesis.tools.rewinding.log import LogPosition, read_position

HEAD = 'v1\n{"batchWatermarkMs":0,"batchTimestampMs":1767323045000,"conf":{}}'
OTHER = '{"orders":{"0":17}}'
FOLDER = "rewinds/20260102T030405.000006Z"


def line(number: int) -> str:
    """The offset after this record of `orders`, as text."""
    arn = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
    shards = f'"shards":{{"shardId-000000000000":"{number}"}}'
    created = '"created":"2026-01-01T00:00:00Z"'
    return f'{{"version":1,"streams":{{"{arn}":{{{created},{shards}}}}}}}'


def offset(number: int) -> SourceOffset:
    """The same as an offset."""
    return decode(line(number), "here")


class Folder:
    """A checkpoint."""

    def __init__(self, path: Path) -> None:
        """Write nothing yet."""
        self.path = path

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def batch(self, number: int, *lines: str, is_completed: bool = True) -> None:
        """Write a micro-batch with the ends of its sources."""
        self.write(f"offsets/{number}", "\n".join([HEAD, *lines]))
        if is_completed:
            self.write(f"commits/{number}", 'v1\n{"nextBatchWatermarkMs":0}')

    def text(self, name: str) -> str:
        """The text of a file."""
        return (self.path / name).read_text()

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint, as the command opens it."""
        return Checkpoint(open_files(str(self.path)))

    def position(self, source: str | None = None, *, drop_planned: bool = False) -> LogPosition:
        """Where the query continues, if it may be moved."""
        return read_position(self.checkpoint, source, drop_planned=drop_planned)
