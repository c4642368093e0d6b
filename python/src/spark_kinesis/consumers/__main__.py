"""The command ``spark-kinesis consumers``, also ``python -m spark_kinesis.consumers``."""

from __future__ import annotations

import argparse
import sys
import textwrap
import time
from collections.abc import Sequence

from spark_kinesis import SparkKinesisError
from spark_kinesis._boto import kinesis_client

from .registry import Consumer, Registry

COST = (
    "Cost of a consumer: 0.015 USD per hour and shard, and 0.013 USD per GB that it reads; with "
    "on-demand capacity 0.05 USD per GB alone. List prices of us-east-1, looked up in November "
    "2026. Current prices: https://aws.amazon.com/kinesis/data-streams/pricing/"
)

_EXAMPLES = """examples:
  spark-kinesis consumers list orders --region eu-west-1
  spark-kinesis consumers register orders spark-orders
  spark-kinesis consumers deregister orders spark-orders"""
_EXIT_CODES = "Exit codes: 0 success, 1 an error of the service or a refusal, 2 a wrong option."


def main(arguments: Sequence[str] | None = None) -> int:
    """List or change the consumers of a stream. Returns 0, and 1 after an error or a refusal."""
    asked = _parser().parse_args(arguments)
    user = "spark-kinesis consumers"
    try:
        client = kinesis_client(user, asked.endpoint, asked.region, asked.profile, attempts=5)
    except SparkKinesisError as error:
        return _failed(error)
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

    try:
        return _perform(Registry(client, asked.stream, time.sleep), asked)
    except (BotoCoreError, ClientError, TimeoutError) as error:
        return _failed(error)


def _failed(error: Exception) -> int:
    print(f"consumers: {error}", file=sys.stderr)
    return 1


def _perform(registry: Registry, asked: argparse.Namespace) -> int:
    if asked.action == "list":
        _show(registry.consumers())
    elif asked.action == "register":
        print(registry.register(asked.name).arn)
    else:
        return _deregister(registry, asked.name, is_confirmed=asked.yes)
    print(COST, file=sys.stderr)  # standard output has the result alone
    return 0


def _show(consumers: Sequence[Consumer]) -> None:
    rows = [("NAME", "STATUS", "CREATED", "ARN")]
    rows += [(it.name, it.status, it.created.isoformat(" ", "seconds"), it.arn) for it in consumers]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def _deregister(registry: Registry, name: str, *, is_confirmed: bool) -> int:
    consumer = registry.find(name)
    warning = (
        f"{consumer.arn} will not exist any more. A query that reads with it fails. If you "
        f"register {name} again, the new consumer has another ARN."
    )
    print(warning, file=sys.stderr)
    if not is_confirmed and not _agrees(f"Deregister consumer {name}? [y/N] "):
        print("consumers: nothing was changed", file=sys.stderr)
        return 1
    registry.deregister(consumer)
    print(f"deregistered {consumer.arn}")
    print(COST, file=sys.stderr)
    return 0


def _agrees(question: str) -> bool:
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="spark-kinesis consumers",
        description="List, register or deregister the consumers of enhanced fan-out of a stream.",
        epilog=f"{_EXAMPLES}\n\n{_EXIT_CODES}\n{textwrap.fill(COST, 100)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, text in (
        ("list", "show name, status, creation and ARN of each consumer"),
        ("register", "register a consumer, wait until it is active, and print its ARN"),
        ("deregister", "deregister a consumer, after a confirmation"),
    ):
        example = next(it for it in _EXAMPLES.splitlines() if f" {name} " in it)
        action = actions.add_parser(
            name,
            help=text,
            description=f"{text.capitalize()}.",
            epilog=f"example:\n{example}\n\n{_EXIT_CODES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        action.add_argument("stream", help="name or ARN of the stream")
        if name != "list":
            action.add_argument("name", help="name of the consumer")
        if name == "deregister":
            action.add_argument("--yes", action="store_true", help="do not ask")
        _add_connection(action)
    return parser


def _add_connection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--region", help="AWS region; default: from the AWS SDK")
    parser.add_argument("--endpoint", help="URL of the Kinesis service")
    parser.add_argument("--profile", help="AWS profile; default: the AWS SDK's provider chain")


if __name__ == "__main__":
    sys.exit(main())
