"""The list of commands, and the one way in which each of them ends."""

from __future__ import annotations

import io
import os
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

# By subject, as `--help` lists them: the module of each command, and its name there.
COMMANDS = {
    "doctor": ("examination", "command"),
    "top": ("top", "top"),
    "tail": ("tailing", "command"),
    "advise": ("advising", "command"),
    "audit": ("auditing", "command"),
    "batches": ("history", "command"),
    "rewind": ("rewinding.command", "rewind"),
    "migrate": ("handover.command", "migrate"),
    "local": ("local", "local"),
    "generate": ("generating", "command"),
    "demo": ("demo", "command"),
}


class _Commands(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 click's signature
        return list(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 click's signature
        cmd_name: str,
    ) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name]
        found: click.Command = getattr(import_module(f"spark_kinesis.tools.{module}"), name)
        return found


_EPILOG = """\b
Exit codes: 0 success, 1 a finding (each command says which) or a "no" to a question, 2 an error,
130 after Ctrl-C, except for commands that run until Ctrl-C.
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
        with spark_kinesis.make_context("spark-kinesis", list(arguments)) as context:
            ended = spark_kinesis.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except (BrokenPipeError, SystemExit) as end:
        # The reader of a pipe, such as `head`, has ended. For this reason, rich exits.
        is_pipe = BrokenPipeError in (type(end), type(end.__context__))
        if is_pipe:  # what is not written yet goes nowhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0 if is_pipe else FAILED
    except Exception as error:  # noqa: BLE001 none may end with the code of a finding
        if not isinstance(error, (SparkKinesisError, OSError)) and not is_from_aws(error):
            to_stderr(shown(traceback.format_exc()))
        to_stderr(shown(f"spark-kinesis: {error or type(error).__name__}"))
        return FAILED
    return ended if isinstance(ended, int) else 0
