"""The entry point, and how failures end."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import click

from spark_kinesis import SparkKinesisError, __version__
from spark_kinesis._boto import is_from_aws
from spark_kinesis.tools.facts.files import shown

from .commands import COMMANDS, Commands
from .output import to_stderr

if TYPE_CHECKING:
    from collections.abc import Sequence

FAILED = 2
INTERRUPTED = 130

_EPILOG = """\b
Exit codes: 0 success, 1 a finding (each command says which), 2 an error.
Region and credentials come from the AWS SDK's default chain."""


@click.command(
    cls=Commands,
    commands=COMMANDS,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, package_name="spark-kinesis")
def spark_kinesis() -> None:
    """Work with Amazon Kinesis Data Streams and the Spark queries that read and write them."""


def run(arguments: Sequence[str]) -> int:
    """Run a command.

    Args:
        arguments: the words after ``spark-kinesis``.

    Returns:
        The exit code: 0, 1 for a finding, 2 after an error, 130 after Ctrl-C.
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
    except Exception as error:
        if not isinstance(error, SparkKinesisError) and not is_from_aws(error):
            raise
        to_stderr(shown(f"spark-kinesis: {error}"))
        return FAILED
    return ended if isinstance(ended, int) else 0
