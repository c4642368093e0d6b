"""`python -m tests.campaign [PART,PART] [--hours H] [--seed N] [--folder F]`, or `make campaign`.

Repeats rounds of each part until its share of the time is over, at least one of each. A round that
has begun ends. SIGINT, SIGTERM and SIGHUP end it at once. Each round is kept in `target/campaign`,
and the next run adds to it. Two runs cannot use it at a time. At the end, and after a signal, the
page is written: see `page.py`.

With `--seed`, runs one round of a part with this seed, and keeps nothing. With `--folder`, rounds
and page are in another folder, so that the page of the documentation stays as it is.

The exit status is 1 if a round failed, and 130 after a signal.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.campaign.histories import STORED
from tests.campaign.page import write_pages
from tests.campaign.parts import PARTS
from tests.campaign.rounds import FOLDER, ROOT, Outcome, Part, Play, Round, keep, last_lines
from tests.campaign.rounds import rounds_of as kept_rounds
from tests.spark_versions import java_version

if TYPE_CHECKING:
    from collections.abc import Iterator

REPORT = "docs/reference/reliability.md"
PAGE = ROOT / REPORT
STOPPED = 130  # exit status after a signal


def run(parts: list[Part], seconds: float, folder: Path) -> int:
    """Run parts for a time in all, and return the number of rounds that failed."""
    failed = 0
    for part in parts:
        until = time.monotonic() + seconds / len(parts)
        for it in rounds_until(until, part, folder):
            keep(it, folder)
            failed += bool(it.outcome.failure)
            show(it, max(0.0, until - time.monotonic()), failed)
    return failed


def rounds_until(until: float, part: Part, folder: Path) -> Iterator[Round]:
    """Run rounds of a part until a time, at least one.

    After a failure, what the rounds share is prepared again. If that fails, the part is over.
    """
    is_over = False
    try:
        while not is_over:
            with part.opened() as play:
                is_good = True
                while is_good and not is_over:
                    yield (it := next_round(part, play, folder))
                    is_good, is_over = not it.outcome.failure, time.monotonic() >= until
    except Exception:  # noqa: BLE001 - the other parts still run
        told = last_lines(traceback.format_exc())
        yield next_round(part, lambda *_: Outcome(failure=told), folder)


def next_round(part: Part, play: Play, folder: Path) -> Round:
    """Run the round after those that are kept."""
    before = kept_rounds(part.name, folder)
    seed = before[-1].last_seed + 1 if before else first_seed()
    return played(part, play, seed, folder)


def first_seed() -> int:
    """The seed of the first round in a folder."""
    return random.randrange(2**32)


def played(part: Part, play: Play, seed: int, folder: Path) -> Round:
    """Run one round. If it fails, its files stay in the folder `<part>-<seed>`."""
    folder.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f"{part.name}-", dir=folder))
    started = time.monotonic()
    date = datetime.now(timezone.utc).isoformat(timespec="seconds")
    try:
        outcome = play(seed, work)
    except Exception:  # noqa: BLE001 - the campaign goes on
        outcome = Outcome(failure=last_lines(traceback.format_exc()))
    except KeyboardInterrupt:
        shutil.rmtree(work)
        raise
    wall = round(time.monotonic() - started, 1)
    if outcome.failure:
        outcome.repeat = outcome.repeat or f"make campaign PART={part.name} SEED={seed}"
        shutil.rmtree(kept := folder / f"{part.name}-{seed}", ignore_errors=True)
        work.rename(kept)
    else:
        shutil.rmtree(work)
    return Round(part.name, seed, part.seeds, commit(), date, machine(), wall, outcome)


def show(it: Round, left: float, failed: int) -> None:
    """Show a round in the line of the one before it, or below it if it failed."""
    counts = [f"{name}: {count:,}" for name, count in it.outcome.counts.items()]
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
    """The commit of the working tree when the run began, with `+` if files differ from it.

    The files that the campaign writes do not count.
    """
    ignored = (f":!{it}" for it in (REPORT, STORED))
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", *ignored)
    head = git("rev-parse", "--short=10", "HEAD")
    return f"{head}+" if changed else head


def git(*arguments: str) -> str:
    """What git prints."""
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


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
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    commit()  # finds it before the first round, and keeps it
    os.environ.pop("SEED", None)  # of make; the suites would run this seed alone
    # The programs in tests/e2e/apps import tests.e2e.support.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    if given.seed is not None:
        (part,) = parts
        with part.opened() as play:
            it = played(part, play, given.seed, given.folder)
        show(it, 0.0, failed := int(bool(it.outcome.failure)))
        return failed
    given.folder.mkdir(parents=True, exist_ok=True)
    lock = (given.folder / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        parser.error(f"another run uses {given.folder}: wait for it, or choose another --folder")
    try:
        return 1 if run(parts, given.hours * 3600, given.folder) else 0
    except KeyboardInterrupt:
        return STOPPED
    finally:
        write_pages(PARTS, given.folder, page)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
