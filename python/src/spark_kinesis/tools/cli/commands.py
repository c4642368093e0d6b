"""The list of commands, and the one way in which each of them ends."""

from __future__ import annotations

import io
import sys
import traceback
from importlib import import_module
from typing import TYPE_CHECKING

import click

from spark_kinesis import SparkKinesisError, __version__
from spark_kinesis._boto import is_from_aws
from spark_kinesis.tools.facts.files import shown

from .output import to_stderr

if TYPE_CHECKING:
    from collections.abc import Sequence

FAILED = 2
INTERRUPTED = 130

# Name, `module:name` of the click command, and what it does. By subject, as `--help` lists them.
COMMANDS = {
    "doctor": (
        "spark_kinesis.tools.examination:command",
        "Examine a set-up, and say what to do about each problem.",
    ),
    "top": (
        "spark_kinesis.tools.top.command:top",
        "Watch a streaming query: lag, rates, shards, and a forecast.",
    ),
    "tail": ("spark_kinesis.tools.tailing:command", "Show the records of a stream as they arrive."),
    "advise": (
        "spark_kinesis.tools.advising:command",
        "Say which shards to split or merge, from measured traffic, and do it.",
    ),
    "audit": (
        "spark_kinesis.tools.auditing:command",
        "Count the duplicates and gaps of exactly-once queries in a stream.",
    ),
    "batches": (
        "spark_kinesis.tools.history:command",
        "List the micro-batches of a checkpoint.",
    ),
    "rewind": (
        "spark_kinesis.tools.rewinding.command:rewind",
        "Move a stopped query to another position.",
    ),
    "migrate": (
        "spark_kinesis.tools.handover.command:migrate",
        "Continue where another consumer stopped, or hand positions back.",
    ),
    "local": ("spark_kinesis.tools.local:local", "Run a local Kinesis until Ctrl-C."),
    "generate": ("spark_kinesis.tools.generating:command", "Write records to a stream, at a rate."),
    "demo": (
        "spark_kinesis.tools.demo:command",
        "See a query through two reshards and a kill, on a local Kinesis.",
    ),
}


class _Commands(click.Group):
    """A group whose commands are imported when they run: the list itself is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 click's signature
        return list(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 click's signature
        cmd_name: str,
    ) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        found: click.Command = getattr(import_module(module), name)
        return found

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 the same
        formatter: click.HelpFormatter,
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


_EPILOG = """\b
Exit codes: 0 success, 1 a finding (each command says which) or a "no" to a question, 2 an error.
Region and credentials come from the AWS SDK's default chain."""


@click.command(
    cls=_Commands, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, package_name="spark-kinesis")
def spark_kinesis() -> None:
    """Work with Amazon Kinesis Data Streams and the Spark queries that read and write them."""


def run(arguments: Sequence[str]) -> int:
    """Run a command.

    Args:
        arguments: the words after ``spark-kinesis``.

    Returns:
        The exit code: 0, 1 for a finding, 2 after an error, 130 after Ctrl-C. A defect of a command
        is an error, too, so that no script takes it for a finding.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal may not have our signs
    try:
        ended = spark_kinesis.main(list(arguments), "spark-kinesis", standalone_mode=False)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except SystemExit:  # click and rich end so if the reader of a pipe, such as `head`, has ended
        return 0
    except Exception as error:  # noqa: BLE001 none may end with the code of a finding
        if not isinstance(error, (SparkKinesisError, OSError)) and not is_from_aws(error):
            traceback.print_exc()
        to_stderr(shown(f"spark-kinesis: {error or type(error).__name__}"))
        return FAILED
    return ended if isinstance(ended, int) else 0
