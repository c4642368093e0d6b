"""The commands, which are imported when they run."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Entry:
    """A command.

    Attributes:
        place: ``module:name`` of a click command, or of a ``main`` that takes a list of words.
        help: what it does, in one line.
        is_program: whether it is such a ``main``, which reads its own words.
    """

    place: str
    help: str
    is_program: bool = False


# By subject: the list of `--help` has the same order.
COMMANDS = {
    "doctor": Entry(
        "spark_kinesis.doctor.command:doctor",
        "Examine a set-up, and say what to do about each problem.",
    ),
    "top": Entry(
        "spark_kinesis.live.command:top",
        "Watch a streaming query: lag, rates, shards, and a forecast.",
    ),
    "report": Entry(
        "spark_kinesis.live.report:report",
        "Write what a streaming query is doing to a page of HTML.",
    ),
    "tail": Entry(
        "spark_kinesis.tail.command:tail", "Show the records of a stream as they arrive."
    ),
    "advise": Entry(
        "spark_kinesis.advise.command:advise",
        "Say how many shards a stream needs, where to split, and how large a job.",
    ),
    "consumers": Entry(
        "spark_kinesis.consumers.__main__:main",
        "List, register or deregister the consumers of a stream.",
        is_program=True,
    ),
    "audit": Entry(
        "spark_kinesis.audit.__main__:main",
        "Count the duplicates and gaps of exactly-once queries in a stream.",
        is_program=True,
    ),
    "batches": Entry(
        "spark_kinesis.tools.history.command:batches", "List the micro-batches of a checkpoint."
    ),
    "diff": Entry(
        "spark_kinesis.compare.command:diff",
        "Compare the rows of a stream, of micro-batches or of a table with others.",
    ),
    "rewind": Entry(
        "spark_kinesis.tools.rewinding.command:rewind", "Move a stopped query to another position."
    ),
    "migrate": Entry(
        "spark_kinesis.tools.handover.command:migrate",
        "Continue where another consumer stopped, or hand positions back.",
    ),
    "local": Entry(
        "spark_kinesis.local.__main__:main", "Run a local Kinesis until Ctrl-C.", is_program=True
    ),
    "generate": Entry(
        "spark_kinesis.generate.__main__:main",
        "Write generated or recorded records to a stream, at a rate.",
        is_program=True,
    ),
    "demo": Entry(
        "spark_kinesis.demo.__main__:main",
        "See a query through two reshards and a restart, on a local Kinesis.",
        is_program=True,
    ),
}


class Commands(click.Group):
    """A group whose commands are imported when they run."""

    def __init__(self, *, commands: Mapping[str, Entry], **settings: Any) -> None:
        """Import nothing yet."""
        super().__init__(**settings)
        self._entries = commands

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 click's signature
        """The names, in the order of the table."""
        return list(self._entries)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 click's signature
        cmd_name: str,
    ) -> click.Command | None:
        """The command of a name."""
        entry = self._entries.get(cmd_name)
        if entry is None:
            return None
        return _program(cmd_name, entry) if entry.is_program else _Lazy(cmd_name, entry)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of the first word, imported."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, _Lazy) else command, rest


class _Lazy(click.Command):
    """Shows its one line in the list of commands."""

    def __init__(self, name: str, entry: Entry) -> None:
        super().__init__(name, short_help=entry.help)
        self._place = entry.place

    def load(self) -> click.Command:
        found = _found(self._place)
        assert isinstance(found, click.Command)  # noqa: S101 the table above is our own
        return found


def _found(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def _program(name: str, entry: Entry) -> click.Command:
    """A command that reads its own words, also ``--help``."""

    @click.pass_context
    def call(context: click.Context) -> None:
        context.exit(_found(entry.place)(context.args))

    return click.Command(
        name,
        callback=call,
        short_help=entry.help,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
