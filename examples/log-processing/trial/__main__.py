"""Runs the trial: ``make demo-logs``.

The job stores events, the driver is killed, a shard is split, Python workers are killed, and two
shards are merged. At the end, the stream is compared with what the job did.
"""

from __future__ import annotations

import math
import random
import re
import signal
import sys
import tempfile
import threading
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from log_processing.dashboard import server
from log_processing.sending import client
from log_processing.table import now_ms
from spark_kinesis import SparkKinesisError

from .run import Trial
from .services import SOURCES, STREAM, TABLE, TrialError, services, stored

RATE = 200.0
FAILED, UNABLE, INTERRUPTED = 1, 2, 130


def main() -> int:
    """Run the trial. Returns 0 if every event was stored once, and alerted or kept as it should."""
    signal.signal(signal.SIGTERM, _interrupt)
    # A shell starts background jobs without it, and the generator needs it to end.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="demo-logs-") as folder, ExitStack() as stack:
        try:
            started = stack.enter_context(services(Path(folder)))
            trial = stack.enter_context(closing(Trial(started, RATE, random.Random(7))))
            page = server(client("dynamodb", None, started.dynamodb), TABLE, "logs", 0)
            threading.Thread(target=page.serve_forever, daemon=True).start()
            trial.log(f"the services run; dashboard: http://127.0.0.1:{page.server_port}/")
            return story(trial)
        except KeyboardInterrupt:
            print("demo-logs: interrupted", file=sys.stderr)
            return INTERRUPTED
        except (TrialError, SparkKinesisError) as error:
            print(f"demo-logs: {error}", file=sys.stderr)
            return UNABLE


def story(trial: Trial) -> int:
    """Play the trial. Returns the exit code."""
    seconds = terraform_trigger()
    trial.begin_load()
    trial.start_job("--trigger-seconds", f"{seconds:g}")
    trial.log(f"events arrive, and the job starts, with --trigger-seconds {seconds:g}")
    trial.watch_until("a micro-batch", lambda: trial.processed > 0)
    slow = [now_ms()]
    trial.watch(seconds)
    slow.append(now_ms())
    put = trial.put
    trial.watch_until("the job has stored them", lambda: trial.processed >= put)
    trial.watch(1)  # their micro-batch is committed, so they are not stored again

    trial.kill_driver()
    trial.log("kill -9: the driver. The job starts again, with --trigger-seconds 0")
    before = trial.processed
    trial.start_job()
    trial.watch_until(
        "the job has caught up", lambda: trial.processed > before and trial.is_caught_up
    )
    trial.log(f"a shard is split into {' and '.join(trial.services.kinesis.split(STREAM))}")
    for _ in range(2):
        trial.watch(1)
        trial.watch_until("a Python worker", trial.kill_worker)
        trial.log("kill -9: a Python worker")
    trial.log(f"two shards are merged into {trial.services.kinesis.merge(STREAM)}")
    trial.watch(2)
    quick = [now_ms()]
    trial.watch(8)
    quick.append(now_ms())
    trial.log("the generator stops, and the job processes the rest")
    code = trial.finish()
    items = stored(trial.services.dynamodb)
    trial.log(f"put to stored with --trigger-seconds 0: {percentiles(items, quick)}")
    trial.log(f"put to stored with --trigger-seconds {seconds:g}: {percentiles(items, slow)}")
    balance = trial.balance()
    if balance.strange:
        print(f"{balance.strange} alerts or bad events should not be there, or are there twice")
    print(balance, flush=True)
    return 0 if code == 0 and balance.is_even else FAILED


def terraform_trigger() -> float:
    """The trigger that Terraform sets, in seconds."""
    text = (SOURCES / "terraform" / "variables.tf").read_text(encoding="utf-8")
    found = re.search(r'"trigger_seconds" \{[^}]*?default\s*= (\d+)', text)
    if found is None:
        raise TrialError("terraform/variables.tf has no default for 'trigger_seconds'")
    return float(found[1])


def percentiles(items: list[dict[str, Any]], span: list[int]) -> str:
    """The times from put to stored of the events that arrived within a span."""
    times = [(int(it["arrival"]["N"]), int(it["storedAt"]["N"])) for it in items]
    waits = sorted(at - put for put, at in times if span[0] <= put < span[1])
    if not waits:
        raise TrialError("No event arrived in the time that is measured.")
    p50, p99 = (waits[math.ceil(share * len(waits)) - 1] / 1000 for share in (0.5, 0.99))
    return f"p50={p50:.2f} s p99={p99:.2f} s"


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
