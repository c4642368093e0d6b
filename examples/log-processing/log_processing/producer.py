"""Trial traffic: ``python -m log_processing.producer --stream logs --rate 200 --seconds 60``.

It starts two generators of spark-kinesis: one for events, and one for records that are not events.
A local Kinesis needs ``--endpoint http://127.0.0.1:4567``.
"""

from __future__ import annotations

import argparse
import math
import signal
import subprocess
import sys
import time
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
_POLL_SECONDS = 0.1
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
    """The commands of the generators: one or two, because none has a rate of 0."""
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
    """Write until the time is over or Ctrl-C. Returns 0, or the exit code of a failed generator."""
    parser = argparse.ArgumentParser(
        prog="log_processing.producer", description="Write log events and garbage to a stream."
    )
    add = parser.add_argument
    add("--stream", required=True, help="name of the stream")
    add("--endpoint", help="URL of Kinesis (default: AWS)")
    add("--region", help="AWS region (default: from the AWS SDK)")
    add("--rate", type=_rate, default=100.0, help="records per second (default: 100)")
    add("--seconds", type=float, help="time to write for (default: until Ctrl-C)")
    add("--errors", type=_share, default=0.05, help="share of errors (default: 0.05)")
    add("--garbage", type=_share, default=0.02, help="share of garbage (default: 0.02)")
    asked = parser.parse_args(arguments)
    running = [subprocess.Popen(command) for command in commands(asked)]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        return wait(running)
    except KeyboardInterrupt:
        return 0  # the generators got Ctrl-C too
    finally:
        for process in running:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)  # their planned end
            process.wait()


def wait(running: Sequence[subprocess.Popen[bytes]]) -> int:
    """Wait until all processes have succeeded, or one has failed.

    Returns:
        The exit code, as a shell reports it: 128 and more for a process that a signal ended.
    """
    while True:
        codes = [process.poll() for process in running]
        failed = [code for code in codes if code]
        if failed:
            return failed[0] if failed[0] > 0 else 128 - failed[0]
        if None not in codes:
            return 0
        time.sleep(_POLL_SECONDS)


def _rate(text: str) -> float:
    rate = float(text)
    if not 0 < rate < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return rate


def _share(text: str) -> float:
    share = float(text)
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not from 0 to 1")
    return share


if __name__ == "__main__":
    sys.exit(main())
