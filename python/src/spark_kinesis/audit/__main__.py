"""The command ``spark-kinesis audit``, also ``python -m spark_kinesis.audit``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime

from pyspark.sql import SparkSession

from spark_kinesis import (
    AtTimestamp,
    KinesisSource,
    Profile,
    TrimHorizon,
    with_kinesis,
)

from .counts import QueryAudit, audit

_EPILOG = """examples:
  spark-kinesis audit orders --region eu-west-1
  spark-kinesis audit orders --since 2026-01-31T12:00+00:00

Exit codes: 0 without duplicates and missing records, 1 with some, 2 an error. 'missing batches'
and 'equal rows' do not count, because a micro-batch may have no rows, or equal rows."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the audit of a stream. Returns 0 if it is clean, 1 if not, and 2 after an error."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    try:
        source = _source(asked)
    except ValueError as error:
        parser.error(str(error))
    try:
        results = audit(source, with_kinesis(SparkSession.Builder()).getOrCreate())
    # Spark raises errors of several kinds. None may end with the code of an unclean stream.
    except Exception as error:  # noqa: BLE001
        print(f"audit: {error}", file=sys.stderr)
        return 2
    if not results:
        print(f"audit: stream {asked.stream} has no exactly-once row here", file=sys.stderr)
        return 2
    for result in results:
        print(_text(result))
    return 0 if all(result.is_clean for result in results) else 1


def _source(asked: argparse.Namespace) -> KinesisSource:
    return KinesisSource(
        stream_name=asked.stream,
        region=asked.region,
        endpoint=asked.endpoint,
        credentials=Profile(name=asked.profile) if asked.profile else None,
        starting_position=AtTimestamp(asked.since) if asked.since else TrimHorizon(),
        ending_position=AtTimestamp(asked.until) if asked.until else None,
    )


def _text(result: QueryAudit) -> str:
    counts = vars(result).items()
    lines = [
        f"  {name.replace('_', ' '):<18}{value:>12,}" for name, value in counts if name != "query"
    ]
    verdict = "clean" if result.is_clean else "NOT CLEAN"
    return "\n".join([f"query {result.query}: {verdict}", *lines])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="spark-kinesis audit",
        description="Count the duplicates and gaps of exactly-once queries in a stream.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("stream", help="name of the stream")
    parser.add_argument("--region", help="AWS region; default: from the AWS SDK")
    parser.add_argument("--endpoint", help="URL of the Kinesis service")
    parser.add_argument("--profile", help="AWS profile; default: the AWS SDK's provider chain")
    for name, text in (
        ("--since", "begin, such as 2026-01-31T12:00+00:00; default: the oldest record"),
        ("--until", "end; default: the last record now"),
    ):
        parser.add_argument(name, type=datetime.fromisoformat, metavar="TIME", help=text)
    return parser


if __name__ == "__main__":
    sys.exit(main())
