"""`python -m tests.campaign [PART,PART] [--hours H] [--seed N] [--folder F]`, or `make campaign`.

Repeats rounds of each part until its share of the time is over, at least one of each. A round that
has begun ends. SIGINT and SIGTERM end it at once. Each round is kept in `target/campaign`, and the
next run adds to it. At the end, and after a signal, the page is written: see `page.py`.

With `--seed`, runs one round of a part with this seed, and keeps nothing. With `--folder`, rounds
and page are in another folder, so that the page of the documentation stays as it is.

The exit status is 1 if a round failed, and 130 after a signal.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from datetime import datetime, timezone
from functools import cache
from pathlib import Path

from tests.campaign.page import write_pages
from tests.campaign.parts import PARTS
from tests.campaign.rounds import FOLDER, ROOT, Outcome, Part, Play, Round, keep, last_lines
from tests.campaign.rounds import rounds_of as kept_rounds
from tests.run_all import first_seed
from tests.spark_versions import java_version

PAGE = ROOT / "docs" / "reference" / "reliability.md"
STOPPED = 130  # exit status after a signal


def run(parts: list[Part], seconds: float, folder: Path) -> int:
    """Run parts for a time in all, and return the number of rounds that failed.

    After a failure, what the rounds of the part share is prepared again.
    """
    failed = 0
    for part in parts:
        until, left = time.monotonic() + seconds / len(parts), 1.0
        while left > 0:
            with part.opened() as play:
                is_good = True
                while is_good and left > 0:
                    it = next_round(part, play, folder)
                    keep(it, folder)
                    is_good = not it.outcome.failure
                    failed += not is_good
                    left = max(0.0, until - time.monotonic())
                    show(it, left, failed)
    return failed


def next_round(part: Part, play: Play, folder: Path) -> Round:
    """Run the round after those that are kept."""
    before = kept_rounds(part.name, folder)
    seed = before[-1].last_seed + 1 if before else first_seed()
    return played(part, play, seed, folder)


def played(part: Part, play: Play, seed: int, folder: Path) -> Round:
    """Run one round. If it fails, its files stay in the folder `<part>-<seed>`."""
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    started = time.monotonic()
    date = datetime.now(timezone.utc).isoformat(timespec="seconds")
    try:
        outcome = play(seed, work)
    except Exception:  # noqa: BLE001 - the campaign goes on
        outcome = Outcome(failure=last_lines(traceback.format_exc()))
    if outcome.failure and not outcome.repeat:
        outcome.repeat = f"make campaign PART={part.name} SEED={seed}"
    wall = round(time.monotonic() - started, 1)
    if outcome.failure:
        shutil.rmtree(kept := folder / f"{part.name}-{seed}", ignore_errors=True)
        work.rename(kept)
    return Round(part.name, seed, commit(), date, machine(), wall, outcome)


def show(it: Round, left: float, failed: int) -> None:
    """Show a round in the line of the one before it, or below it if it failed."""
    counts = [f"{count:,} {name}" for name, count in it.outcome.counts.items()]
    line = f"{it.part}, seed {it.seed}: {', '.join(counts)} in {it.wall_seconds:.0f} s"
    line += f"; {failed} rounds failed; {left / 60:.0f} min left"
    width = shutil.get_terminal_size().columns
    print(f"\r{line[:width]:{width}}" if sys.stdout.isatty() else line, end="", flush=True)
    if it.outcome.failure or not sys.stdout.isatty():
        print(flush=True)
    if it.outcome.failure:
        print(f"{it.outcome.failure}\nTo repeat it: {it.outcome.repeat}", flush=True)


@cache
def commit() -> str:
    """The commit of the working tree when the run began, with `+` if files differ from it."""
    git = ["git", "describe", "--always", "--abbrev=10", "--exclude=*", "--dirty=+"]
    return subprocess.run(git, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def machine() -> str:
    """The size of this machine and its JDK."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, JDK {java_version()}"


def main(arguments: list[str]) -> int:
    """Run the campaign, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign")
    parser.add_argument("parts", nargs="?", default="all", help=f"all, or of {', '.join(PARTS)}")
    parser.add_argument("--hours", type=float, default=1.0, help="of all parts together")
    parser.add_argument("--seed", type=int, help="runs one round with this seed, and keeps nothing")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="keeps rounds and plots")
    given = parser.parse_args(arguments)
    page = PAGE if given.folder == FOLDER else given.folder / PAGE.name
    names = list(PARTS) if given.parts == "all" else given.parts.split(",")
    if unknown := set(names) - set(PARTS):
        parser.error(f"unknown parts {', '.join(sorted(unknown))}: expected {', '.join(PARTS)}")
    parts = [PARTS[name] for name in names]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # The programs in tests/e2e/apps import tests.e2e.support.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    if given.seed is not None:
        (part,) = parts
        with part.opened() as play:
            it = played(part, play, given.seed, given.folder)
        show(it, 0.0, failed := int(bool(it.outcome.failure)))
        return failed
    try:
        return 1 if run(parts, given.hours * 3600, given.folder) else 0
    except KeyboardInterrupt:
        return STOPPED
    finally:
        write_pages(PARTS, given.folder, page)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
