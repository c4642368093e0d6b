"""The options of the job. Credentials are not among them: the AWS SDK finds those."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Settings:
    """The options. `python -m log_processing.job --help` and the README describe each."""

    stream: str
    table: str
    bus: str
    checkpoint: str
    bad_events: str
    name: str = "logs"
    region: str | None = None
    retention_days: int = 30
    trigger_seconds: float = 0.0
    max_mb_per_batch: int = 64
    write_timeout: float = 60.0
    stop_timeout: float = 25.0
    once: bool = False
    kinesis_endpoint: str | None = None
    dynamodb_endpoint: str | None = None
    events_endpoint: str | None = None


def read_settings(arguments: Sequence[str]) -> Settings:
    """The settings of a command line. A wrong option ends the program, and the message names it."""
    parser = argparse.ArgumentParser(
        prog="log_processing.job",
        description="Store log events of a Kinesis stream in DynamoDB, and publish the errors.",
        argument_default=argparse.SUPPRESS,  # the defaults are those of the class
    )
    add = parser.add_argument
    add("--stream", required=True, help="name of the stream")
    add("--table", required=True, help="name of the DynamoDB table")
    add("--bus", required=True, help="name of the EventBridge bus")
    add("--checkpoint", required=True, help="folder of the checkpoints of both queries")
    add("--bad-events", required=True, help="folder of the events that cannot be stored")
    add("--name", help="name of the job, in metrics and on the dashboard")
    add("--region", help="AWS region (default: from the AWS SDK)")
    add("--retention-days", type=_number(1, 3650, int), help="life of an event")
    seconds = _number(0, 3600, float)
    add("--trigger-seconds", type=seconds, help="minimum time between two starts of micro-batches")
    megabytes = _number(1, 1_000_000, int)
    add("--max-mb-per-batch", type=megabytes, help="megabytes that a micro-batch reads at most")
    add("--write-timeout", type=_number(1, 3600, float), help="seconds to repeat a request")
    add("--stop-timeout", type=seconds, help="seconds that a micro-batch may take after SIGTERM")
    add("--once", action="store_true", help="process what has arrived, then end")
    for service in ("kinesis", "dynamodb", "events"):
        add(f"--{service}-endpoint", help="URL of another server, for tests (default: AWS)")
    return Settings(**vars(parser.parse_args(arguments)))


def _number(low: float, high: float, kind: type[int | float]) -> Callable[[str], float]:
    def read(text: str) -> float:
        value = kind(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text} is not from {low:g} to {high:g}")
        return value

    read.__name__ = "number"  # argparse names it if the text is no number
    return read
