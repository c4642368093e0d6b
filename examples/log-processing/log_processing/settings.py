"""The settings of the application: options of the command line, or environment variables.

Each option ``--some-name`` has the environment variable ``LOG_SOME_NAME``. The option wins.
Secrets are not among them: AWS credentials come from the default chain of the AWS SDK.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from .options import add_options, option

_STREAM = re.compile(r"[a-zA-Z0-9_.-]{1,128}")
_POSITIONS = ("latest", "trim_horizon")


MAX_RETENTION_DAYS = 3650


@dataclass(frozen=True)
class TablePlace:
    """Where the events are stored. Queries need no more than this."""

    table: str = option("name of the DynamoDB table")
    region: str | None = option("AWS region (default: from the AWS SDK)", default=None)
    dynamodb_endpoint: str | None = option("URL of DynamoDB (default: AWS)", default=None)


@dataclass(frozen=True)
class TableSettings(TablePlace):
    """The table and the query that writes to it. The dashboard needs no more than this."""

    name: str = option("name of the query, for its progress in the table", default="logs")


@dataclass(frozen=True)
class Settings(TableSettings):
    """All settings of the job.

    Raises:
        ValueError: if a value is outside its limits. The message names the option.
    """

    streams: str = option("names of the streams to read, separated by commas", default="")
    bus: str = option("name of the EventBridge bus that receives the errors", default="")
    checkpoint: str = option("folder of the query's checkpoint", default="")
    bad_events: str = option("folder for events that cannot be stored, as Parquet", default="")
    kinesis_endpoint: str | None = option("URL of Kinesis (default: AWS)", default=None)
    events_endpoint: str | None = option("URL of EventBridge (default: AWS)", default=None)
    starting_position: str = option(
        "where a query without a checkpoint begins: latest, trim_horizon, or a time such as "
        "2026-01-31T12:00:00+00:00 (default: trim_horizon)",
        default="trim_horizon",
    )
    consumer: str | None = option(
        "name of a consumer of enhanced fan-out (default: none, the query polls)", default=None
    )
    retention_days: int = option("days until DynamoDB deletes an event (default: 30)", default=30)
    trigger_seconds: float = option(
        "minimum seconds between two micro-batches (default: 0)", default=0.0
    )
    write_timeout: float = option(
        "seconds to retry a write that DynamoDB or EventBridge temporarily rejects (default: 60)",
        default=60.0,
    )
    requests_in_flight: int = option("parallel requests per task (default: 8)", default=8)
    max_bytes_per_batch: int = option(
        "bytes of records per micro-batch (default: 67108864)", default=64 * 1024 * 1024
    )
    stop_timeout: float = option(
        "seconds that a micro-batch may take after SIGTERM (default: 25)", default=25.0
    )
    once: bool = option("process all available records, then exit", default=False)

    def __post_init__(self) -> None:
        """Check the values."""
        for field in ("streams", "table", "bus", "checkpoint", "bad_events", "name"):
            if not getattr(self, field).strip():
                raise ValueError(f"--{field.replace('_', '-')} is missing")
        for stream in self.stream_names:
            if not _STREAM.fullmatch(stream):
                raise ValueError(f"--streams: '{stream}' is not the name of a stream")
        if len(set(self.stream_names)) != len(self.stream_names):
            raise ValueError(f"--streams names a stream twice: {self.streams}")
        if self.starting_position not in _POSITIONS and self.start_time is None:
            raise ValueError(
                f"--starting-position must be latest, trim_horizon or a time with a time zone, "
                f"not '{self.starting_position}'"
            )
        self._check("retention_days", 1, MAX_RETENTION_DAYS)
        self._check("trigger_seconds", 0, 3600)
        self._check("write_timeout", 1, 3600)
        self._check("requests_in_flight", 1, 64)
        self._check("max_bytes_per_batch", 1, 1 << 40)
        self._check("stop_timeout", 0, 3600)

    def _check(self, field: str, low: float, high: float) -> None:
        value = getattr(self, field)
        if not low <= value <= high:
            name = field.replace("_", "-")
            raise ValueError(f"--{name} must be from {low:g} to {high:g}, not {value:g}")

    @property
    def stream_names(self) -> tuple[str, ...]:
        """The names of the streams."""
        return tuple(name.strip() for name in self.streams.split(","))

    @property
    def start_time(self) -> datetime | None:
        """The starting position if it is a time with a time zone."""
        try:
            time = datetime.fromisoformat(self.starting_position.replace("Z", "+00:00"))
        except ValueError:
            return None
        return None if time.tzinfo is None else time


def read_settings(
    arguments: Sequence[str], environment: Mapping[str, str] = os.environ
) -> Settings:
    """The settings of the job. A wrong one ends the program with a message that names it."""
    parser = argparse.ArgumentParser(
        prog="log_processing.job", description="Store log events of Kinesis in DynamoDB."
    )
    add_options(parser, Settings, environment)
    try:
        return Settings(**vars(parser.parse_args(arguments)))
    except ValueError as error:
        parser.error(str(error))
