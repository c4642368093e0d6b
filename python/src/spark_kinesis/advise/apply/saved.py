"""An advice in a file, to continue after an interruption."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import SparkKinesisError

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.streams import StreamSummary

_VERSION = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Saved:
    """Which shards a stream had, and which it should have.

    Attributes:
        arn: ARN of the stream.
        created: creation time of the stream. The file contains it in UTC.
        initial: lowest hash keys of the shards when the advice was given.
        wanted: lowest hash keys of the wanted shards.
    """

    arn: str
    created: datetime
    initial: tuple[int, ...]
    wanted: tuple[int, ...]

    def write(self, file: str) -> None:
        """Write the file.

        Raises:
            SparkKinesisError: if that fails.
        """
        content = {
            "version": _VERSION,
            "stream": self.arn,
            "created": _text(self.created),
            "initial": [str(it) for it in self.initial],
            "wanted": [str(it) for it in self.wanted],
        }
        try:
            Path(file).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise SparkKinesisError(f"--save: {file} cannot be written: {error}") from error

    @staticmethod
    def read(file: str) -> Saved:
        """Read a file.

        Raises:
            SparkKinesisError: if it is missing, or not such a file.
        """
        try:
            return _decoded(json.loads(Path(file).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SparkKinesisError(
                f"--resume: {file} is not a file of spark-kinesis advise --save: {error}"
            ) from error

    def check(self, summary: StreamSummary, file: str) -> None:
        """Check that it is for this very stream.

        Raises:
            SparkKinesisError: if it is for another stream, or for an earlier one of its name.
        """
        if (self.arn, self.created) != (summary.arn, summary.created):
            raise SparkKinesisError(
                f"--resume: {file} is for {self.arn}, created at {_text(self.created)}, and not "
                f"for {summary.arn}, created at {_text(summary.created)}"
            )


def _decoded(content: Any) -> Saved:
    if content["version"] != _VERSION:
        raise ValueError(f"version {content['version']!r}")
    return Saved(
        arn=content["stream"],
        created=_time(content["created"]),
        initial=tuple(int(it) for it in content["initial"]),
        wanted=tuple(int(it) for it in content["wanted"]),
    )


def _text(time: datetime) -> str:
    return time.astimezone(timezone.utc).isoformat()


def _time(text: str) -> datetime:
    """A time with any offset: earlier releases wrote that of the machine."""
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError(f"the creation time {text} has no offset from UTC")
    return time
