"""The command ``python -m spark_kinesis.generate``; ``--help`` tells how."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from datetime import datetime, timezone

from spark_kinesis import SparkKinesisError

from .keys import Keys
from .kinesis import connect, sender
from .pace import Pace
from .progress import Goal, Progress, open_progress, sentence
from .template import HELP, parse
from .work import Times, Work, run
from .writer import Writer

DEFAULT_TEMPLATE = '{"id": {{counter}}, "at": "{{now}}", "value": {{random 1 100}}}'
GIVE_UP_SECONDS = 60.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Write records; 0 if all that was asked for is written, or on Ctrl-C, 1 if not."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    try:
        work = _work(asked)
    except ValueError as error:
        parser.error(str(error))
    try:
        return _perform(work, asked)
    except SparkKinesisError as error:
        print(f"generate: {error}", file=sys.stderr)
        return 1


def _perform(work: Work, asked: argparse.Namespace) -> int:
    client = connect(asked.endpoint, asked.region, asked.profile)
    times = Times(now=time.monotonic, sleep=time.sleep, date=lambda: datetime.now(timezone.utc))
    writer = Writer(
        stream=asked.stream,
        send=sender(client, asked.stream),
        patience=asked.give_up,
        now=times.now,
        sleep=times.sleep,
    )
    progress = open_progress(work.goal, quiet=asked.quiet)
    begun = times.now()
    try:
        run(work, writer, times, progress)
    except KeyboardInterrupt:
        pass  # the way to end it
    finally:
        _close(progress, writer, times.now() - begun, asked.stream)
    return 0


def _close(progress: Progress, writer: Writer, elapsed: float, stream: str) -> None:
    progress.show(writer.tally, elapsed)
    progress.close()
    print(f"{stream}: {sentence(writer.tally, elapsed)}", flush=True)


def _work(asked: argparse.Namespace) -> Work:
    hot_keys = asked.hot_keys
    if hot_keys is None:
        hot_keys = 1 if asked.hot_share > 0 else 0
    limits = {"--count": asked.count, "--seconds": asked.seconds, "--give-up": asked.give_up}
    for name, value in limits.items():
        if value is not None and not 0 <= value < float("inf"):
            raise ValueError(f"{name} must be a number of at least 0, not {value}")
    return Work(
        template=parse(asked.template),
        keys=Keys(count=asked.keys, hot=hot_keys, hot_share=asked.hot_share),
        pace=Pace(rate=asked.rate),
        goal=Goal(count=asked.count, seconds=asked.seconds),
        seed=random.randrange(2**32) if asked.seed is None else asked.seed,  # noqa: S311
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m spark_kinesis.generate",
        description="Write made-up records to a stream at a steady rate.",
        epilog=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    say = parser.add_argument
    say("--stream", required=True, help="its name")
    say("--endpoint", help="such as http://127.0.0.1:4567; default: AWS")
    say("--region", help="default: the AWS SDK's chain; of a local endpoint, us-east-1")
    say("--profile", help="of the AWS configuration files; default: the AWS SDK's chain")
    say("--rate", type=float, default=100.0, help="records a second (default 100)")
    say("--count", type=int, help="stop after so many records")
    say("--seconds", type=float, help="stop after so long; default: at Ctrl-C")
    say("--template", default=DEFAULT_TEMPLATE, help="of a record's data; see below")
    say("--keys", type=int, default=1000, help="how many partition keys (default 1000)")
    say("--hot-share", type=float, default=0.0, help="share of records with a hot key, 0 to 1")
    say("--hot-keys", type=int, help="how many keys are hot (default 1 with --hot-share)")
    say("--seed", type=int, help="the same keys and values again; default: others each time")
    say("--give-up", type=float, default=GIVE_UP_SECONDS, metavar="SECONDS", help=_GIVE_UP)
    say("--quiet", action="store_true", help="no progress, the summary only")
    return parser


_GIVE_UP = f"fail when a record is refused for so long (default {GIVE_UP_SECONDS:.0f})"


if __name__ == "__main__":
    sys.exit(main())
