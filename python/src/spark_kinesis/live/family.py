"""The shards of a query from inside: as far as its offsets have named them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from spark_kinesis.tools.facts.records import Probe

from .model.facts import Reading, ShardFacts, ShardKey
from .steps import shards_of

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.offsets import ShardOffset, SourceOffset

    from .progress import Report

_BEHIND = "maxFetchLagMs"
_NOTHING = Probe(behind=timedelta(), arrived=None, sequence_number=None, is_end=False)


class Family:
    """Parents and children, as far as the offsets of a query have named them."""

    def __init__(self) -> None:
        """Know nothing."""
        self._parents: dict[ShardKey, tuple[str, ...]] = {}

    def note(self, offset: SourceOffset) -> None:
        """Remember the shards of an offset, and for which parents they wait."""
        for key, it in shards_of(offset).items():
            self._parents[key] = tuple(sorted({*self._parents.get(key, ()), *it.waits_for}))

    def shards(self, last: Report, *, is_busy: bool) -> dict[ShardKey, ShardFacts]:
        """What is known about all shards that were ever named.

        Args:
            last: the last report.
            is_busy: whether a micro-batch runs. Records arrive meanwhile, so none is caught up.
        """
        positions = shards_of(last.end)
        return {
            key: ShardFacts(parents=parents, position=None)
            if key not in positions
            else _shard(last, key, positions[key], parents, is_busy=is_busy)
            for key, parents in sorted(self._parents.items())
        }


def _shard(
    last: Report,
    key: ShardKey,
    position: ShardOffset,
    parents: tuple[str, ...],
    *,
    is_busy: bool,
) -> ShardFacts:
    """A shard. It has no unread record if reading ahead has caught up, and found none."""
    here = replace(position, complete_as_of=None, first=None)
    ahead = shards_of(last.ahead).get(key, position)
    is_same = replace(ahead, complete_as_of=None, first=None) == here
    if is_same and ahead.complete_as_of is not None:
        position = replace(position, complete_as_of=ahead.complete_as_of)
    behind = last.metrics.get(f"{_BEHIND}.{key[0]}", last.metrics.get(_BEHIND))
    has_nothing = is_same and behind == "0" and not is_busy
    # Without the time up to which it is complete: no rate of arrival follows from it.
    nothing = Reading(at=last.at, position=here, probe=_NOTHING)
    return ShardFacts(parents=parents, position=position, backlog=(nothing,) if has_nothing else ())
