"""The reference of the commands, which is made from their help."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING

import click

from spark_kinesis.tools.cli.commands import COMMANDS, spark_kinesis
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = ROOT / "docs" / "reference" / "commands.md"
HEAD = """\
# Commands

This page is made from the help of the commands. `spark-kinesis COMMAND --help` says more.
[Use the tools from Python](../how-to/tools-in-python.md) shows the same as functions.

Exit codes: 0 success, 1 a finding (each command says which) or a "no" to a question, 2 an error.
Region and credentials come from the AWS SDK's default chain.

## Install

The command `spark-kinesis` needs the extra `cli`. Until the first release, install an extra from
the [wheel](../tutorial.md#install):

```sh
pip install "$(ls python/dist/spark_kinesis-*.whl)[cli]"
```

For several extras, write `[cli,spark]`.

## Shared options

Many commands have these options. `--help` shows which.
"""
# So many commands have an option that is described once.
MANY = 3

Record = tuple[str, str]


def page() -> str:
    """The text of the page."""
    commands = {
        name: spark_kinesis.get_command(click.Context(spark_kinesis), name) for name in COMMANDS
    }
    found = {name: command for name, command in commands.items() if command}
    every = [leaf for command in found.values() for leaf in leaves(command)]
    shared = common(every, 2 * MANY)
    parts = [HEAD, table(shared)]
    for name, command in found.items():
        parts += section(name, command, shared, "##")
    return "\n".join(parts)


def leaves(command: click.Command) -> list[click.Command]:
    """A command, or the subcommands of a group."""
    return list(command.commands.values()) if isinstance(command, click.Group) else [command]


def section(name: str, command: click.Command, known: list[Record], level: str) -> Iterator[str]:
    """A command: its help, its arguments, and its options that no earlier section has."""
    yield f"{level} {name}\n\n{described(command)}"
    if any(isinstance(it, click.Argument) for it in command.params):
        context = click.Context(command, info_name=f"spark-kinesis {name}", terminal_width=100)
        yield f"```text\n{command.get_usage(context)}\n```\n"
    if isinstance(command, click.Group):
        several = [it for it in common(leaves(command), MANY) if it not in known]
        yield "Several subcommands have these options:\n\n" + table(several)
        for inner, subcommand in command.commands.items():
            yield from section(f"{name} {inner}", subcommand, [*known, *several], f"{level}#")
    elif own := [it for it in options(command) if it not in known]:
        yield table(own)


def described(command: click.Command) -> str:
    """What a command does and needs, its examples, its calls, and its exit codes."""
    help_text = f"{command.help or ''}\n\n{command.epilog or ''}"
    paragraphs = inspect.cleandoc(help_text).replace("\b\n", "").split("\n\n")
    texts = []
    for paragraph in filter(None, (it.strip("\n") for it in paragraphs)):
        first, _, rest = paragraph.partition("\n")
        if first.startswith("Example") and rest:
            texts.append(f"```text\n{inspect.cleandoc(rest)}\n```\n")
        elif not texts or first.startswith(("Calls", "Exit codes", "Stop")):
            texts.append(" ".join(paragraph.split()) + "\n")
    return "\n".join(texts)


def options(command: click.Command) -> list[Record]:
    """The names of each option with its value, and what it means."""
    context = click.Context(command)
    records = (it.get_help_record(context) for it in command.params)
    return [(name, " ".join(text.split())) for name, text in filter(None, records) if text]


def common(commands: Iterable[click.Command], least: int) -> list[Record]:
    """The options that at least so many commands have with the same text."""
    every = [record for command in commands for record in options(command)]
    return [it for it in dict.fromkeys(every) if every.count(it) >= least]


def table(records: list[Record]) -> str:
    """A table of options."""
    cells = ((name.replace("|", "\\|"), text.replace("|", "\\|")) for name, text in records)
    lines = [f"| `{name}` | {text} |" for name, text in cells]
    return "\n".join(["| Option | Meaning |", "|---|---|", *lines, ""])


def test_the_page_has_the_help_of_all_commands() -> None:
    if "UPDATE_GOLDEN" in os.environ:
        PAGE.write_text(page(), encoding="utf-8")
    wanted = "UPDATE_GOLDEN=1 writes docs/reference/commands.md again."
    assert PAGE.read_text(encoding="utf-8") == page(), wanted


def test_the_page_has_every_command() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [it for it in COMMANDS if f"\n## {it}\n" not in text] == []
