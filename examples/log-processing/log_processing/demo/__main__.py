"""Runs the trial: ``python -m log_processing.demo``."""

from __future__ import annotations

import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from spark_kinesis import SparkKinesisError

from .program import ProgramError
from .story import Outcome, run

FAILED, UNABLE, INTERRUPTED = 1, 2, 130


def main() -> int:
    """Run the trial. Returns 0 if every event was stored once, and alerted or kept as it should."""
    signal.signal(signal.SIGTERM, _interrupt)
    with tempfile.TemporaryDirectory(prefix="demo-logs-") as folder:
        try:
            outcome = run(Path(folder))
        except KeyboardInterrupt:
            print("demo-logs: interrupted", file=sys.stderr)
            return INTERRUPTED
        except (ProgramError, SparkKinesisError) as error:
            print(f"demo-logs: {error}", file=sys.stderr)
            return UNABLE
    show(outcome)
    return 0 if outcome.verdict.is_balanced else FAILED


def show(outcome: Outcome) -> None:
    """Print the result."""
    verdict = outcome.verdict
    if verdict.strange:
        print(f"{verdict.strange} wrong rows or alerts: kept twice, not bad, or not an error")
    print(f"{outcome.alerts} alerts arrived for {verdict.errors} errors: an alert may be repeated")
    times = f"{outcome.undisturbed}; all events: {outcome.overall}"
    print(f"from put to stored while the job ran: {times}")
    print(verdict)
    print("latest errors:")
    for error in outcome.latest_errors:
        print(f"  {error.timestamp}  {error.service}  {error.message}")
    print(f"dashboard: {outcome.dashboard} (until now)", flush=True)


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
