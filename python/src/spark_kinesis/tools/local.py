"""The command ``spark-kinesis local``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import click

from spark_kinesis._errors import LocalKinesisError
from spark_kinesis.local import LocalKinesis
from spark_kinesis.local._kinesis import READY, Clock, Quotas

from .cli import DURATION


def _pairs(separator: str, default: str) -> Callable[..., dict[str, str]]:
    """Make a dictionary of texts such as ``orders:2``. The server checks the names and values."""

    def read(_context: object, _parameter: object, given: Sequence[str]) -> dict[str, str]:
        parts = (text.partition(separator) for text in given)
        return {name: value or default for name, _, value in parts}

    return read


@click.command("local")
@click.argument("streams", nargs=-1, metavar="[NAME:SHARDS]...", callback=_pairs(":", "1"))
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="port to listen on; 0 is any free port (default)",
)
@click.option(
    "--quotas",
    type=click.Choice(get_args(Quotas)),
    default="off",
    help="aws enforces the limits of AWS (default: off); the other kinds also do, but count writes "
    "to a shard in another way",
)
@click.option(
    "--persist",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="folder that stores all data (default: data is in memory only)",
)
@click.option(
    "--clock",
    type=click.Choice(get_args(Clock)),
    default="system",
    help="a simulated clock stands still until a client moves it (default: system)",
)
@click.option(
    "--list-lag",
    type=DURATION,
    metavar="2s",
    help="how long ListShards returns the shards before a reshard (default: 0)",
)
@click.option(
    "--change-time",
    type=DURATION,
    metavar="1s",
    help="how long it takes to create, change or delete a stream (default: 0)",
)
@click.option(
    "--consumer-limit",
    type=click.Choice(["20", "50"]),
    default="20",
    help="maximum number of registered consumers per stream (default: 20)",
)
@click.option(
    "--heap",
    default="1g",
    metavar="4g",
    help="maximum memory (default: 1g); 1 GB of records of 1 KB takes 1.2 GB",
)
@click.option(
    "--behaviour",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_pairs("=", ""),
    help="what AWS does and a simple local server does not, such as visibility-delay=200ms or "
    "empty-pages=0.5; may be repeated (default: nothing of it)",
)
def local(**given: Any) -> int:
    """Run a local Kinesis on this machine until Ctrl-C.

    It creates the streams that you name, with one shard by default. Prints its address as soon as
    it listens.

    \b
    Examples:
      spark-kinesis local orders:2 --port 4567
      spark-kinesis local orders --quotas aws --persist /tmp/kinesis

    Exit codes: 0 after Ctrl-C, 2 if it did not start.
    """
    try:
        with LocalKinesis(**given) as kinesis:
            click.echo(f"{READY}{kinesis.endpoint}")
            ended = kinesis.wait()
    except KeyboardInterrupt:
        return 0  # the normal end
    raise LocalKinesisError(f"the local Kinesis ended with exit code {ended}")
