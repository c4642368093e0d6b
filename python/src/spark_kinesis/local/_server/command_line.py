"""The command ``spark-kinesis local``, also ``python -m spark_kinesis.local``."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import get_args

from spark_kinesis._errors import LocalKinesisError, SparkKinesisError

from .behaviour import DEFAULTS, Behaviour, option
from .launch import command
from .process import READY, ServerProcess
from .settings import Quotas, ServerSettings

_HIGHEST_PORT = 65535
_HELP = {
    "port": "port to listen on; 0 is any free port (default)",
    "stream": "a stream to create, with 1 shard by default; may be repeated",
    "quotas": "aws enforces the limits of AWS (default: off); the other kinds also do, but count "
    "writes to a shard in another way",
    "persist": "folder that stores all data (default: data is in memory only)",
    "clock": "a simulated clock stands still until a client moves it (default: system)",
    "list_lag": "how long ListShards returns the shards before a reshard (default: 0)",
    "change_time": "how long it takes to create, change or delete a stream (default: 0)",
    "consumer_limit": "maximum number of registered consumers per stream (default: 20)",
    "visibility_delay": "readers see a record up to this time after its acknowledgement (default: "
    "0)",
    "arrival_fall": "arrival times within a shard fall by up to this time (default: 0)",
    "empty_pages": "share of the pages with records that empty pages precede (default: 0)",
    "late_shard_ends": "share of the closed shards that need one more empty page before their end "
    "(default: 0)",
    "endless_subscriptions": "share of the closed shards whose subscriptions do not end (default: "
    "0)",
    "replayed_subscriptions": "share of the subscriptions that begin at the oldest record "
    "(default: 0)",
    "failed_entries": "share of the entries of PutRecords that fail with InternalFailure (default: "
    "0)",
    "shuffled_puts": "share of the calls of PutRecords that write in another order (default: 0)",
    "reshard_interval": "time before each split or merge of UpdateShardCount (default: 0)",
    "on_demand_scaling": "records per second and open shard above which an on-demand stream "
    "doubles its shards (default: 0, never)",
    "seed": "seed of the chance in these (default: 0)",
    "heap": "maximum memory (default: 1g); 1 GB of records of 1 KB takes 1.2 GB",
}

_EPILOG = """examples:
  spark-kinesis local --port 4567 --stream orders:2
  spark-kinesis local --stream orders --quotas aws --persist /tmp/kinesis

Exit codes: 0 after Ctrl-C, 1 if it did not start, 2 a wrong option."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a local Kinesis until Ctrl-C.

    Returns:
        0 after Ctrl-C; 1 if it did not start; otherwise the exit code with which it ended.
    """
    parser = _parser()
    asked = parser.parse_args(arguments)
    try:
        settings = ServerSettings(
            quotas=asked.quotas,
            persist=asked.persist,
            clock=asked.clock,
            list_lag=asked.list_lag,
            change_time=asked.change_time,
            consumer_limit=asked.consumer_limit,
            heap=asked.heap,
            behaviour=Behaviour(**{name: getattr(asked, name) for name in DEFAULTS}),
        )
    except ValueError as error:
        parser.error(str(error))
    try:
        return _serve(command(dict(asked.stream), asked.port, settings))
    except SparkKinesisError as error:
        print(f"local: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0  # Ctrl-C is the normal end


def _serve(words: Sequence[str]) -> int:
    process = ServerProcess(words, shares_stderr=True)
    try:
        endpoint = process.endpoint()
        if endpoint is None:
            raise LocalKinesisError("the local Kinesis did not start")
        print(f"{READY}{endpoint}", flush=True)
        return process.wait()
    finally:
        process.stop()


def _stream(argument: str) -> tuple[str, int]:
    found = re.fullmatch(r"([a-zA-Z0-9_.-]{1,128})(?::([1-9]\d{0,4}))?", argument)
    if found is None:
        raise argparse.ArgumentTypeError(
            f"{argument!r} is not a stream such as orders or orders:2 (a name of letters, digits, "
            "and _.-, and a number of shards above 0)"
        )
    return found[1], int(found[2] or "1")


def _port(argument: str) -> int:
    if not argument.isdecimal() or int(argument) > _HIGHEST_PORT:
        raise argparse.ArgumentTypeError(f"{argument!r} is not a port from 0 to {_HIGHEST_PORT}")
    return int(argument)


def _duration(argument: str) -> timedelta:
    found = re.fullmatch(r"(\d{1,6})(ms|s|m)", argument)
    if found is None:
        raise argparse.ArgumentTypeError(f"{argument!r} is not a duration such as 200ms, 2s or 1m")
    unit = {"ms": "milliseconds", "s": "seconds", "m": "minutes"}[found[2]]
    return timedelta(**{unit: int(found[1])})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="spark-kinesis local",
        description="Run a local Kinesis on this machine until Ctrl-C.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add, about = parser.add_argument, _HELP
    add("--port", type=_port, default=0, help=about["port"])
    add(
        "--stream",
        action="append",
        type=_stream,
        default=[],
        metavar="NAME:SHARDS",
        help=about["stream"],
    )
    add("--quotas", choices=get_args(Quotas), default="off", help=about["quotas"])
    add("--persist", type=Path, metavar="FOLDER", help=about["persist"])
    add("--clock", choices=("system", "simulated"), default="system", help=about["clock"])
    add("--list-lag", type=_duration, metavar="2s", help=about["list_lag"])
    add("--change-time", type=_duration, metavar="1s", help=about["change_time"])
    add("--consumer-limit", type=int, choices=(20, 50), default=20, help=about["consumer_limit"])
    add("--heap", default="1g", metavar="4g", help=about["heap"])
    aws = parser.add_argument_group("what AWS does and a simple local server does not")
    for name, default in DEFAULTS.items():
        read, example = _BEHAVIOUR_VALUES[type(default)]
        aws.add_argument(
            option(name), type=read, default=default, metavar=example, help=about[name]
        )
    return parser


_BEHAVIOUR_VALUES: dict[type, tuple[Callable[[str], object], str]] = {
    timedelta: (_duration, "200ms"),
    float: (float, "0.5"),
    int: (int, "10"),
}
