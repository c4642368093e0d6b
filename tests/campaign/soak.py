"""One JVM in which queries come and go for hours: what it holds must not grow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from tests.campaign import soak_session
from tests.campaign.rounds import ROUND_SECONDS, Outcome, Part, Play
from tests.campaign.soak_session import LASTING, PASSING
from tests.e2e.support.processes import kill_session

if TYPE_CHECKING:
    from collections.abc import Iterator

WARM_UP = 10  # rounds after which caches and pools are full
JUDGED = 30  # rounds after these, before a slope is judged

# The largest slopes per round. Spark itself keeps up to 5 kB of each batch (`SinkLeakSuite`), and a
# round has about 60 batches. A thread, a file or a registration that one query in twenty leaves
# behind exceeds its limit by five times. The number of connections depends on how busy the machine
# is: 22 to 48 in an hour, nearly all of them to the local Kinesis.
LIMITS = {
    "heap after collection, MB": 0.3,
    "threads": 0.1,
    "open files": 0.1,
    "connections": 0.25,
    "disk, MB": 0.3,
    "RPC endpoints": 0.1,
    "sources of metrics": 0.1,
}


@contextmanager
def opened() -> Iterator[Play]:
    """Start the session. All rounds of a run share it."""
    seen: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory(prefix="campaign-soak-") as folder:
        log = Path(folder, "log")
        with (
            log.open("wb") as errors,
            subprocess.Popen(
                [sys.executable, str(soak_session.__file__), folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
                env={**os.environ, "PYSPARK_PYTHON": sys.executable},
            ) as session,
        ):
            try:
                yield lambda seed, _: play(session, log, seen, seed)
            finally:
                kill_session(session.pid)
                with suppress(BrokenPipeError):  # if the session had ended before
                    session.stdin.close()  # type: ignore[union-attr]


def play(
    session: subprocess.Popen[str], log: Path, seen: list[dict[str, float]], seed: int
) -> Outcome:
    """Run a round in the session, and judge the slopes so far."""
    assert session.stdin is not None
    assert session.stdout is not None
    session.stdin.write(f"{seed}\n")
    session.stdin.flush()
    limit = threading.Timer(ROUND_SECONDS, kill_session, [session.pid])
    limit.start()
    try:
        said = session.stdout.readline()
    finally:  # also after a signal: the timer would keep this process alive
        limit.cancel()
    if not said:
        status = session.wait(60)
        _, found, traceback = log.read_text(errors="replace").rpartition("Traceback")
        raise RuntimeError(f"the session ended with {status}:\n{found}{traceback[:3000]}")
    gauges = json.loads(said)
    if "failure" in gauges:
        return Outcome(failure=gauges["failure"])
    seen.append(gauges)
    counts = {
        "queries that came and went": PASSING,
        "rounds judged": int(len(seen) >= WARM_UP + JUDGED),
    }
    failure = growth(seen)
    repeat = "make campaign PART=soak HOURS=2" if failure else ""  # one round shows no growth
    return Outcome(counts, gauges=gauges, failure=failure, repeat=repeat)


def growth(rounds: list[dict[str, float]]) -> str:
    """The gauges whose slope exceeds its limit, or empty."""
    judged = rounds[WARM_UP:]
    if len(judged) < JUDGED:
        return ""
    slopes = {name: slope([it[name] for it in judged]) for name in LIMITS}
    return ", ".join(
        f"{name} grows by {found:.3f} per round in {len(judged)} rounds (limit {LIMITS[name]})"
        for name, found in slopes.items()
        if found > LIMITS[name]
    )


def slope(values: list[float]) -> float:
    """The median of the slopes between all pairs of rounds: single peaks do not change it."""
    pairs = combinations(enumerate(values), 2)
    return median((later - earlier) / (n - m) for (m, earlier), (n, later) in pairs)


SOAK = Part(
    "soak",
    f"In one JVM with {LASTING} lasting queries, {PASSING} queries start, read or copy some "
    "batches, and stop. Then the JVM is measured",
    opened,
)
