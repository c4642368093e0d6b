"""The options of ``spark-kinesis advise``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import click

from .advice import Wishes
from .before import Expected
from .change import Consent
from .choices import Job
from .measure import Asked
from .shards import Limits

Result = TypeVar("Result")
Command = Callable[..., Result]
_SIZES = {"k": 1024, "m": 1024**2, "g": 1024**3}
_POSITIVE = click.FloatRange(0, min_open=True)
# CloudWatch keeps values per minute for 15 days.
_HOURS = click.FloatRange(0.1, 15 * 24)

_ASKED = (
    click.option("--stream", help="Name or ARN of the stream to measure."),
    click.option(
        "--hours", type=_HOURS, default=3.0, show_default=True, help="Time of the metrics."
    ),
    click.option(
        "--sample-seconds",
        type=_POSITIVE,
        default=60.0,
        show_default=True,
        help="Time in which the sampled records arrived.",
    ),
    click.option(
        "--sample-rows",
        type=click.IntRange(100),
        default=2000,
        show_default=True,
        help="Records to sample per shard. Of a busy shard, more are read: those of 4 seconds.",
    ),
    click.option("--no-cloudwatch", is_flag=True, help="Use the sample alone."),
    click.option("--cloudwatch-endpoint", metavar="URL", help="URL of CloudWatch (default: AWS)."),
    click.option("--checkpoint", metavar="PATH", help="Checkpoint of the job, to measure its lag."),
)
_PLANNED = (
    click.option("--plan", "is_plan", is_flag=True, help="Size a stream before there is traffic."),
    click.option("--events-per-minute", type=float, help="[plan] Average events per minute."),
    click.option("--bytes", type=float, help="[plan] Mean bytes of an event with its key."),
    click.option(
        "--peak",
        type=float,
        default=1.0,
        show_default=True,
        help="[plan] Busiest minute, as a multiple of the average.",
    ),
    click.option(
        "--hot-share",
        type=float,
        default=0.0,
        show_default=True,
        help="[plan] Part of the events with the most frequent key, from 0 to 1.",
    ),
)
_APPLIED = (
    click.option(
        "--apply", "is_applied", is_flag=True, help="Split and merge, after a confirmation."
    ),
    click.option("--yes", is_flag=True, help="[apply] Do not ask."),
    click.option(
        "--save", metavar="FILE", help="[apply] Write the advice to a file, to continue with it."
    ),
    click.option(
        "--resume", metavar="FILE", help="[apply] Continue with such a file. Measures nothing."
    ),
)
_WISHED = (
    click.option(
        "--target",
        type=float,
        default=80.0,
        show_default=True,
        help="Largest use of a shard's write quota, in percent.",
    ),
    click.option(
        "--merge-below",
        type=float,
        default=50.0,
        show_default=True,
        help="Merge neighbors that use at most this together, in percent.",
    ),
    click.option(
        "--readers",
        type=click.IntRange(1),
        help="Applications that poll the stream, with the job (default: as CloudWatch says, or 1).",
    ),
    click.option("--delay-ms", type=float, help="Longest delay that is good enough."),
    click.option(
        "--seconds-per-event",
        type=float,
        help="Seconds that a task needs per row, without the time to read it.",
    ),
    click.option(
        "--cores", type=int, default=4, show_default=True, help="Task slots per executor."
    ),
    click.option("--executor-memory", default="4g", show_default=True, help="Heap of an executor."),
    click.option(
        "--trigger-seconds",
        type=float,
        default=0.0,
        show_default=True,
        help="Trigger interval of the query.",
    ),
)


def advise_options(command: Command[Result]) -> Command[Result]:
    """Add the options, in the order of the lists above."""
    for add in reversed((*_ASKED, *_APPLIED, *_PLANNED, *_WISHED)):
        command = add(command)
    return command


@dataclass(frozen=True)
class Options:
    """The options by name."""

    given: Mapping[str, Any]

    def wishes(self) -> Wishes:
        """What the user wants.

        Raises:
            ValueError: names the wrong option.
        """
        return Wishes(
            limits=Limits(most=self.given["target"] / 100, merged=self.given["merge_below"] / 100),
            job=Job(
                seconds_per_event=self.given["seconds_per_event"],
                cores=self.given["cores"],
                heap=_size(self.given["executor_memory"]),
                interval=self.given["trigger_seconds"],
            ),
            delay_ms=self.given["delay_ms"],
        )

    def expected(self) -> Expected:
        """The traffic of a plan.

        Raises:
            ValueError: names the wrong or missing option.
        """
        for name in ("events_per_minute", "bytes"):
            if self.given[name] is None:
                raise ValueError(f"--plan needs --{name.replace('_', '-')}")
        return Expected(
            events_per_minute=self.given["events_per_minute"],
            bytes=self.given["bytes"],
            peak=self.given["peak"],
            hot_share=self.given["hot_share"],
            readers=self.given["readers"] or 1,
        )

    def consent(self) -> Consent:
        """What the user said about the change."""
        given = self.given
        return Consent(is_given=given["yes"], save=given["save"], resume=given["resume"])

    def check(self, *, is_json: bool) -> None:
        """Check that the options fit together.

        Raises:
            ValueError: says what to do.
        """
        given = self.given
        if given["is_plan"] == (given["stream"] is not None):
            raise ValueError("set --stream to measure a stream, or --plan to size a new one")
        if given["is_applied"] and (given["is_plan"] or is_json):
            raise ValueError("--apply needs --stream, and excludes --json")
        for name in ("yes", "save", "resume"):
            if given[name] and not given["is_applied"]:
                raise ValueError(f"--{name} needs --apply")
        if given["save"] and given["resume"]:
            raise ValueError("--save and --resume exclude each other: the file is there already")

    def asked(self, arn: str, lag: timedelta | None) -> Asked:
        """What to measure."""
        return Asked(
            stream=arn,
            hours=self.given["hours"],
            sample=timedelta(seconds=self.given["sample_seconds"]),
            rows=self.given["sample_rows"],
            readers=self.given["readers"],
            lag=lag,
            most=self.given["target"] / 100,
        )


def _size(text: str) -> int:
    unit = _SIZES.get(text[-1:].lower(), 0)
    if not unit or not text[:-1].isdigit() or text.startswith("0"):
        raise ValueError(f"--executor-memory must be a size such as 4g, not {text!r}")
    return int(text[:-1]) * unit
