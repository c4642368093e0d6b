"""The way of a query through its micro-batches, from the log in its checkpoint."""

from __future__ import annotations

from spark_kinesis._errors import CheckpointError
from spark_kinesis._offsets import SourceOffset
from spark_kinesis._watch.forecast import Step
from spark_kinesis._watch.snapshot import MicroBatch, complete
from spark_kinesis._watch.way import Way
from spark_kinesis.tools.facts.checkpoints import Batch, Checkpoint, next_position

MOST_STEPS = 20
_FEWEST_STEPS = 2  # that have a time between them


class StepLog:
    """Reads each micro-batch of the log once, when a later one is completed.

    Until then, ``spark-kinesis rewind`` may move its end, or drop it.
    """

    def __init__(self, checkpoint: Checkpoint, source: str | None) -> None:
        """Read nothing yet. ``source`` is the number or name of one; default: the only one."""
        self._checkpoint, self._source = checkpoint, source
        self._batches: dict[int, tuple[Batch, SourceOffset]] = {}
        self.batch: MicroBatch | None = None
        self.position = SourceOffset()
        self.steps: tuple[Step, ...] = ()

    def refresh(self) -> None:
        """Read what is new.

        Raises:
            CheckpointError: if the query never started, or the log cannot be read.
        """
        # One more than the steps: the first says only where the second began.
        planned = self._checkpoint.planned()[-MOST_STEPS - 1 :]
        completed = set(self._checkpoint.completed())
        newest = max(completed, default=-1)
        # Spark may remove old ones at any moment, but never the latest.
        for number in planned:
            self._read(number, is_latest=number == planned[-1])
        found = {it: self._batches[it] for it in planned if it in self._batches}
        done = [it for it in found if it in completed]
        self.position = (
            found[done[-1]][1] if done else next_position(self._checkpoint, self._source)
        )
        last = found.get(planned[-1]) if planned else None
        self.batch = last and self._latest(last[0], is_running=last[0].number not in completed)
        way = Way(MOST_STEPS)
        for number in done:
            (batch, end), before = found[number], found.get(number - 1)
            is_known = before is not None or number == 0  # whether it moved the source
            if batch.planned is not None and is_known:
                way.add(number, batch.planned, before and before[1], end)
        self.steps = tuple(way.steps)
        if len(self.steps) < _FEWEST_STEPS:  # All of them say how often the query plans one.
            self.steps = tuple(
                Step(at=batch.planned, number=batch.number, complete=complete(end))
                for batch, end in (found[it] for it in done[-MOST_STEPS:])
                if batch.planned is not None
            )
        self._batches = {it: read for it, read in found.items() if it < newest}

    def _read(self, number: int, *, is_latest: bool) -> None:
        if number in self._batches:
            return
        try:
            batch = self._checkpoint.batch(number)
        except CheckpointError:
            if is_latest:
                raise
            return
        source = self._checkpoint.source(batch, self._source)
        self._batches[number] = batch, self._checkpoint.position(batch, source)

    def _latest(self, batch: Batch, *, is_running: bool) -> MicroBatch:
        known = self.batch
        took = known.took if known is not None and known.number == batch.number else None
        if took is None and not is_running and batch.planned is not None:
            ended = self._checkpoint.files.modified(f"commits/{batch.number}")
            took = ended - batch.planned if ended is not None and ended > batch.planned else None
        return MicroBatch(
            number=batch.number, planned=batch.planned, is_running=is_running, took=took
        )
