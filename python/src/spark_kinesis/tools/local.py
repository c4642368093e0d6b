"""The command ``spark-kinesis local``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

import click

from spark_kinesis._errors import LocalKinesisError
from spark_kinesis.local._server import (
    DEFAULTS,
    READY,
    Behaviour,
    Quotas,
    ServerProcess,
    ServerSettings,
    command,
    option,
)

from .cli import DURATION

# What AWS does and a simple local server does not. All of it is off by default.
_BEHAVIOUR = {
    "visibility_delay": "readers see a record up to this time after its acknowledgement",
    "arrival_fall": "arrival times within a shard fall by up to this time",
    "empty_pages": "share of the pages with records that empty pages precede",
    "late_shard_ends": "share of the closed shards that need one more empty page before their end",
    "endless_subscriptions": "share of the closed shards whose subscriptions do not end",
    "replayed_subscriptions": "share of the subscriptions that begin at the oldest record",
    "failed_entries": "share of the entries of PutRecords that fail with InternalFailure",
    "shuffled_puts": "share of the calls of PutRecords that write in another order",
    "reshard_interval": "time before each split or merge of UpdateShardCount",
    "on_demand_scaling": "records per second and open shard above which an on-demand stream "
    "doubles its shards; 0 is never",
    "seed": "seed of the chance in these",
}
_KINDS: dict[type, tuple[Any, str]] = {
    timedelta: (DURATION, "200ms"),
    float: (float, "0.5"),
    int: (int, "10"),
}


def _behaviour_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for name, default in reversed(DEFAULTS.items()):
        kind, example = _KINDS[type(default)]
        add = click.option(
            option(name), type=kind, default=default, metavar=example, help=_BEHAVIOUR[name]
        )
        function = add(function)
    return function


def _streams(_context: Any, _parameter: Any, given: Sequence[str]) -> dict[str, int]:
    """The streams to create, with their numbers of shards."""
    found: dict[str, int] = {}
    for text in given:
        parts = re.fullmatch(r"([a-zA-Z0-9_.-]{1,128})(?::([1-9]\d{0,4}))?", text)
        if parts is None:
            raise click.BadParameter(
                f"{text!r} is not a stream such as orders or orders:2 (a name of letters, digits, "
                "and _.-, and a number of shards above 0)"
            )
        found[parts[1]] = int(parts[2] or "1")
    return found


@click.command("local")
@click.argument("streams", nargs=-1, metavar="[NAME:SHARDS]...", callback=_streams)
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
    type=click.Choice(["system", "simulated"]),
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
@_behaviour_options
def local(streams: dict[str, int], port: int, consumer_limit: str, **given: Any) -> int:
    """Run a local Kinesis on this machine until Ctrl-C.

    It creates the streams that you name, with one shard by default. Prints its address as soon as
    it listens.

    \b
    Examples:
      spark-kinesis local orders:2 --port 4567
      spark-kinesis local orders --quotas aws --persist /tmp/kinesis

    Exit codes: 0 after Ctrl-C, 2 if it did not start.
    """
    behaviour = Behaviour(**{name: given.pop(name) for name in DEFAULTS})
    try:
        settings = ServerSettings(
            **given,
            consumer_limit=int(consumer_limit),  # type: ignore[arg-type] # one of the choices
            behaviour=behaviour,
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    process = ServerProcess(command(streams, port, settings), shares_stderr=True)
    try:
        endpoint = process.endpoint()
        if endpoint is None:
            raise LocalKinesisError("the local Kinesis did not start")
        click.echo(f"{READY}{endpoint}")
        ended = process.wait()
    except KeyboardInterrupt:
        return 0  # the normal end
    finally:
        process.stop()
    raise LocalKinesisError(f"the local Kinesis ended with exit code {ended}")
