"""The command ``python -m spark_kinesis.local``; ``--help`` tells how."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from ._errors import LocalKinesisError, SparkKinesisError
from ._process import ServerProcess
from ._simulator import READY, Rules, command

_STREAM = "a stream to make, with 1 shard where none is said; may be repeated"
_HEAP = "memory for it, such as 512m (default 1g); 1 GB of records of 1 KB takes 1.2 GB"
_HIGHEST_PORT = 65535


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a local Kinesis until Ctrl-C: 0. If it ends before: its exit code, 1 for no start."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    try:
        rules = Rules(
            quotas=asked.quotas,
            persist=asked.persist,
            clock=asked.clock,
            list_lag=asked.list_lag,
            change_time=asked.change_time,
            consumer_limit=asked.consumer_limit,
            heap=asked.heap,
        )
    except ValueError as error:
        parser.error(str(error))
    try:
        return _serve(command(dict(asked.stream), asked.port, rules))
    except SparkKinesisError as error:
        print(f"local: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0  # the way to end it


def _serve(words: Sequence[str]) -> int:
    process = ServerProcess(words, is_heard=True)
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
            f"{argument!r} is no stream such as orders or orders:2 (name of letters, digits, _.-, "
            "number of shards above 0)"
        )
    return found[1], int(found[2] or "1")


def _port(argument: str) -> int:
    if not argument.isdecimal() or int(argument) > _HIGHEST_PORT:
        raise argparse.ArgumentTypeError(f"{argument!r} is no port: 0 to {_HIGHEST_PORT}")
    return int(argument)


def _duration(argument: str) -> timedelta:
    found = re.fullmatch(r"(\d{1,6})(ms|s|m)", argument)
    if found is None:
        raise argparse.ArgumentTypeError(f"{argument!r} is no duration such as 200ms, 2s or 1m")
    unit = {"ms": "milliseconds", "s": "seconds", "m": "minutes"}[found[2]]
    return timedelta(**{unit: int(found[1])})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m spark_kinesis.local", description="A local Kinesis, until Ctrl-C."
    )
    say = parser.add_argument
    say("--port", type=_port, default=0, help="0 takes any free one (default)")
    say("--stream", action="append", type=_stream, default=[], metavar="NAME:SHARDS", help=_STREAM)
    say("--quotas", choices=("aws", "off"), default="off", help="enforce the limits of AWS")
    say("--persist", type=Path, metavar="FOLDER", help="keep everything there; default: in memory")
    say("--clock", choices=("system", "simulated"), default="system", help="what time it goes by")
    say("--list-lag", type=_duration, metavar="2s", help="how late ListShards sees a reshard")
    say("--change-time", type=_duration, metavar="1s", help="how long changes of streams take")
    say("--consumer-limit", type=int, choices=(20, 50), default=20, help="of a stream")
    say("--heap", default="1g", metavar="4g", help=_HEAP)
    return parser
