"""The options that all ways into a new checkpoint share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any, TypeVar

import click

from spark_kinesis._errors import MigrationError
from spark_kinesis.tools.cli import SOURCE, connection_options

from .position_file import read_time
from .stops import Stop, StopKind

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What to write, and what to accept.

    Attributes:
        location: folder or URL of the new checkpoint.
        source: number or name of the source in the query.
        stream: name or ARN of the stream, if the positions do not name it.
        others: where to begin in shards that have nothing to do with the positions.
        at: time of the positions ``AT_TIMESTAMP`` that do not contain it, and of ``LATEST``.
        allow_loss: whether to write the checkpoint although records are lost.
        dry_run: whether to write nothing.
        as_json: whether to print JSON.
    """

    location: str
    source: str
    stream: str | None
    others: Stop | None
    at: datetime | None
    allow_loss: bool
    dry_run: bool
    as_json: bool


class _Time(click.ParamType):  # type: ignore[type-arg] # not generic before click 8.4
    name = "TIME"

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        try:
            return value if isinstance(value, datetime) else read_time(str(value), "the option")
        except MigrationError as error:
            self.fail(str(error), param, ctx)


TIME = _Time()


class _Others(click.ParamType):  # type: ignore[type-arg] # not generic before click 8.4
    name = "position"

    def convert(self, value: Any, param: Any, ctx: Any) -> Stop:
        if isinstance(value, Stop):
            return value
        text = str(value).strip()
        if text.lower() in ("trim_horizon", "latest"):
            return Stop(kind=StopKind(text.upper()))
        try:
            return Stop(kind=StopKind.AT_TIME, time=read_time(text, "--others"))
        except MigrationError:
            self.fail(
                f"{text!r} is not trim_horizon, latest, or a time with a time zone such as "
                "2026-11-20T08:00Z",
                param,
                ctx,
            )


def entry_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Add the options of ``Entry`` and the connection: the arguments ``entry``, ``connection``."""

    @wraps(command)
    def with_entry(**options: Any) -> Result:
        entry = Entry(**{name: options.pop(name) for name in Entry.__dataclass_fields__})
        return command(entry=entry, **options)

    for add in (
        click.option("--json", "as_json", is_flag=True, help="print one JSON document"),
        click.option("--dry-run", is_flag=True, help="only show what the query would read first"),
        click.option(
            "--allow-data-loss",
            "allow_loss",
            is_flag=True,
            help="write the checkpoint although unread records have expired or would be skipped "
            "because of LATEST",
        ),
        click.option(
            "--at",
            type=TIME,
            help="time for LATEST positions, and for AT_TIMESTAMP positions that do not contain "
            "one",
        ),
        click.option(
            "--others",
            type=_Others(),
            metavar="trim_horizon|latest|TIME",
            help="where to begin in shards unrelated to any given position",
        ),
        click.option("--stream", help="name or ARN, if the positions do not name the stream"),
        click.option(
            "--source",
            type=SOURCE,
            default="0",
            show_default=True,
            help="number of the source in the query, or its name if the query names its sources",
        ),
        click.option(
            "--checkpoint", "location", required=True, metavar="NEW", help="new folder or URL"
        ),
    ):
        with_entry = add(with_entry)
    return connection_options(with_entry)
