"""The command ``spark-kinesis demo``, also ``python -m spark_kinesis.demo``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from spark_kinesis import SparkKinesisError

from .environment import missing

UNABLE, INTERRUPTED = 2, 130
LOG_LINES = 30
_EPILOG = """example:
  spark-kinesis demo

Exit codes: 0 if every record arrived once and in order, 1 if not, 2 if the demo cannot run, 130
after Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo. Returns 0 if every line arrived once and in order."""
    argparse.ArgumentParser(
        prog="spark-kinesis demo",
        description="Show a query through two reshards and a restart, on a local Kinesis. It takes "
        "about a minute.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ).parse_args(arguments)
    lacking = missing()
    if lacking is not None:
        print(lacking, file=sys.stderr)
        return UNABLE
    os.environ.pop("SPARK_REMOTE", None)  # the demo starts a session of its own
    with tempfile.TemporaryDirectory(prefix="spark-kinesis-demo-") as folder:
        try:
            return perform(Path(folder))
        except KeyboardInterrupt:
            print("demo: interrupted", file=sys.stderr)
            return INTERRUPTED
        except SparkKinesisError as error:
            print(f"demo: {error}", file=sys.stderr)
            return UNABLE
        except Exception:
            print_log(Path(folder) / "spark.log")
            raise


def perform(folder: Path) -> int:
    """Run the story and print its result."""
    from .story import run  # noqa: PLC0415 only now is it known that its imports are there

    verdict = run(folder)
    if verdict.resent:
        print(f"{verdict.resent} rows arrived again with the same batch and row, and count once")
    if verdict.counted != verdict.read:
        print(f"{verdict.read} rows were read, but status-counts adds up to {verdict.counted}")
    print(verdict, flush=True)
    return 0 if verdict.is_flawless else 1


def print_log(log: Path) -> None:
    """Print the end of Spark's log."""
    if log.is_file():
        lines = log.read_text(errors="replace").splitlines()[-LOG_LINES:]
        print("The end of Spark's log:", *lines, sep="\n", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
