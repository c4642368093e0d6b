"""The command ``spark-kinesis generate``, also ``python -m spark_kinesis.generate``."""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from spark_kinesis import SparkKinesisError
from spark_kinesis._boto import kinesis_client
from spark_kinesis._times import utc_now

from .keys import Keys
from .kinesis import sender
from .pace import Pace
from .progress import Goal, Progress, open_progress, sentence
from .replay import Recorded, only_with_replay, parse_rows, replay
from .shape import NAMES, Shape, usual_peak
from .template import HELP, parse
from .work import Times, Work, run
from .writer import Writer

DEFAULT_TEMPLATE = '{"id": {{counter}}, "at": "{{now}}", "value": {{random 1 100}}}'
GIVE_UP_SECONDS = 60.0
_EPILOG = """examples:
  spark-kinesis generate --stream orders --rate 500 --seconds 60
  spark-kinesis generate --stream orders --endpoint http://127.0.0.1:4567 --count 1000 --json
  spark-kinesis generate --stream orders --replay orders.jsonl --speed 10

Exit codes: 0 when the records are written or after Ctrl-C, 2 an error."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write records. Returns 0 when they are written or after Ctrl-C, and 2 if that failed."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    try:
        work = _work(asked)
        rows = _rows(asked, parser)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    try:
        return _perform(work, rows, asked)
    except SparkKinesisError as error:
        print(f"generate: {error}", file=sys.stderr)
        return 2


def _rows(asked: argparse.Namespace, parser: argparse.ArgumentParser) -> list[Recorded] | None:
    """The records of the file to replay."""
    if asked.replay is None:
        return None
    only_with_replay(asked, {name: parser.get_default(name) for name in vars(asked)})
    with Path(asked.replay).open(encoding="utf-8") as file:
        return parse_rows(file, asked.replay)


def _perform(work: Work, rows: list[Recorded] | None, asked: argparse.Namespace) -> int:
    user = "spark-kinesis generate"
    client = kinesis_client(user, asked.endpoint, asked.region, asked.profile, attempts=1)
    times = Times(now=time.monotonic, sleep=time.sleep, date=utc_now)
    writer = Writer(
        stream=asked.stream,
        send=sender(client, asked.stream),
        patience=asked.give_up,
        now=times.now,
        sleep=times.sleep,
    )
    count = work.goal.count if rows is None else min(len(rows), work.goal.count or len(rows))
    progress = open_progress(Goal(count=count, seconds=work.goal.seconds), quiet=asked.quiet)
    begun = times.now()
    try:
        if rows is None:
            run(work, writer, times, progress)
        else:
            replay(rows, writer, times, progress, speed=asked.speed, goal=work.goal)
    except KeyboardInterrupt:
        pass  # Ctrl-C is the normal end without a limit
    finally:
        _close(progress, writer, times.now() - begun, asked)
    return 0


def _close(progress: Progress, writer: Writer, elapsed: float, asked: argparse.Namespace) -> None:
    progress.show(writer.tally, elapsed)
    progress.close()
    if asked.json:
        found = {"stream": asked.stream, **asdict(writer.tally), "seconds": round(elapsed, 3)}
        print(json.dumps(found), flush=True)
    else:
        print(f"{asked.stream}: {sentence(writer.tally, elapsed)}", flush=True)


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
        pace=Pace(rate=asked.rate, shape=_shape(asked)),
        goal=Goal(count=asked.count, seconds=asked.seconds),
        seed=random.randrange(2**32) if asked.seed is None else asked.seed,  # noqa: S311
    )


def _shape(asked: argparse.Namespace) -> Shape:
    peak = usual_peak(asked.shape) if asked.peak is None else asked.peak
    return Shape(name=asked.shape, period=asked.period, peak=peak)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="spark-kinesis generate",
        description="Write generated or recorded records to a stream, at a rate.",
        epilog=f"{HELP}\n\n{_EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--stream", required=True, help="name of the stream")
    add("--endpoint", help="URL, such as http://127.0.0.1:4567 (default: AWS)")
    add(
        "--region",
        help="AWS region (default: from the AWS SDK's chain, for a local endpoint us-east-1)",
    )
    add(
        "--profile",
        help="profile of the AWS configuration files (default: from the AWS SDK's chain)",
    )
    add("--rate", type=float, default=100.0, help="records per second (default: 100)")
    add("--shape", choices=NAMES, default="steady", help=_SHAPE)
    add(
        "--period",
        type=float,
        default=60.0,
        help="seconds after which a shape repeats (default: 60)",
    )
    add("--peak", type=float, help="highest rate, as a multiple of --rate (default: 5 or 1.8)")
    add("--count", type=int, help="number of records to write (default: no limit)")
    add("--seconds", type=float, help="time to write for, in seconds (default: until Ctrl-C)")
    add(
        "--template",
        default=DEFAULT_TEMPLATE,
        help="data of a record, with placeholders; see below",
    )
    add("--keys", type=int, default=1000, help="number of partition keys (default: 1000)")
    add(
        "--hot-share",
        type=float,
        default=0.0,
        help="share of the records with a hot key, from 0 to 1 (default: 0)",
    )
    add(
        "--hot-keys", type=int, help="number of hot keys (default: 1 with --hot-share, otherwise 0)"
    )
    add("--seed", type=int, help="number that makes keys and values repeatable (default: random)")
    add("--replay", metavar="FILE", help=_REPLAY)
    add("--speed", type=float, default=1.0, help="times as fast as it was recorded (default: 1)")
    add("--give-up", type=float, default=GIVE_UP_SECONDS, metavar="SECONDS", help=_GIVE_UP)
    add("--quiet", action="store_true", help="print the summary only")
    add("--json", action="store_true", help="print the summary as JSON")
    return parser


_SHAPE = (
    "how the rate changes around --rate: burst (high for a tenth of each period), sine, or steps "
    "(four up, and back) (default: steady)"
)
_REPLAY = "write the rows of `spark-kinesis tail --json` again, with the times between them"
_GIVE_UP = f"maximum time to retry a record (default: {GIVE_UP_SECONDS:.0f})"


if __name__ == "__main__":
    sys.exit(main())
