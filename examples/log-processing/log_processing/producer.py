"""Trial traffic: ``python -m log_processing.producer --stream logs --rate 200 --seconds 60``.

It starts two generators of spark-kinesis: one for events, and one for records that are not events.
A local Kinesis needs ``--endpoint http://127.0.0.1:4567``.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SERVICES = ("checkout", "payments", "search", "shipping")
EVENT = (
    '{"timestamp": "{{now}}", "level": "{{choice LEVELS}}", "service": "{{choice SERVICES}}", '
    '"message": "request {{counter}}: {{text 60}}", '
    '"context": {"request": "{{uuid}}", "millis": {{random 1 900}}}}'
)
GARBAGE = '{"timestamp": "{{now}}", "level": "{{text 12}}'
_LEVELS = 100  # the template chooses one of these words


def template(errors: float) -> str:
    """The template of an event.

    Args:
        errors: share of the events with the level ERROR, from 0 to 1, in whole percent.
    """
    count = round(errors * _LEVELS)
    others = ("INFO", "INFO", "INFO", "DEBUG", "WARN")
    levels = ["ERROR"] * count + [others[n % len(others)] for n in range(_LEVELS - count)]
    return EVENT.replace("LEVELS", ",".join(levels)).replace("SERVICES", ",".join(SERVICES))


def commands(asked: argparse.Namespace) -> list[list[str]]:
    """The commands of the generators. There is none for a rate of 0."""
    rates = {
        template(asked.errors): asked.rate * (1 - asked.garbage),
        GARBAGE: asked.rate * asked.garbage,
    }
    common = [sys.executable, "-m", "spark_kinesis.generate", "--stream", asked.stream]
    for name in ("endpoint", "region", "seconds"):
        value = getattr(asked, name)
        common += [] if value is None else [f"--{name}", str(value)]
    return [
        [*common, "--rate", str(rate), "--template", text]
        for text, rate in rates.items()
        if rate > 0
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write until the time is over or Ctrl-C. Returns the exit code of the generators."""
    parser = argparse.ArgumentParser(
        prog="log_processing.producer", description="Write log events and garbage to a stream."
    )
    add = parser.add_argument
    add("--stream", required=True, help="name of the stream")
    add("--endpoint", help="URL of Kinesis (default: AWS)")
    add("--region", help="AWS region (default: from the AWS SDK)")
    add("--rate", type=float, default=100.0, help="records per second (default: 100)")
    add("--seconds", type=float, help="time to write for (default: until Ctrl-C)")
    add("--errors", type=_share, default=0.05, help="share of errors (default: 0.05)")
    add("--garbage", type=_share, default=0.02, help="share of garbage (default: 0.02)")
    asked = parser.parse_args(arguments)
    running = [subprocess.Popen(command) for command in commands(asked)]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        return max(process.wait() for process in running)
    except KeyboardInterrupt:
        return 0  # the generators got Ctrl-C too
    finally:
        for process in running:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)  # their planned end
            process.wait()


def _share(text: str) -> float:
    share = float(text)
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not from 0 to 1")
    return share


if __name__ == "__main__":
    sys.exit(main())
