"""What AWS does and a simple local server does not."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any

from spark_kinesis._options.values import duration, require

_NO_TIME = timedelta(0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Behaviour:
    """What AWS does and a simple local server does not. Everything is off by default.

    The options of ``spark-kinesis local`` have the same names, such as ``--visibility-delay``.

    Attributes:
        visibility_delay: readers see a record up to this time after its acknowledgement, in
            sequence order within its shard. Meanwhile a page at the tip says that nothing follows,
            and a closed shard does not end.
        arrival_fall: the arrival time of a record is up to this time before its acknowledgement,
            so arrival times within a shard fall by at most this time.
        empty_pages: share, 0 to 1, of the pages of ``GetRecords`` with records that one to three
            empty pages precede. Each of these advances the iterator, and its
            ``MillisBehindLatest`` is smaller.
        late_shard_ends: share, 0 to 1, of the closed shards that need one more empty page after
            their last records.
        endless_subscriptions: share, 0 to 1, of the closed shards whose subscriptions do not end
            with the shard. They send empty events that say that nothing follows.
        replayed_subscriptions: share, 0 to 1, of the subscriptions that begin at the oldest
            record, whatever position was asked for.
        failed_entries: share, 0 to 1, of the entries of ``PutRecords`` that fail with
            ``InternalFailure``.
        shuffled_puts: share, 0 to 1, of the calls of ``PutRecords`` that write their entries in
            another order.
        reshard_interval: time before each split or merge of ``UpdateShardCount``, and of an
            on-demand stream that scales. Meanwhile the stream is ``UPDATING``, and accepts
            records.
        on_demand_scaling: an on-demand stream doubles its shards when it received more than so
            many records per open shard within a second; 0 means never.
        seed: seed of all chance.
    """

    visibility_delay: timedelta = _NO_TIME
    arrival_fall: timedelta = _NO_TIME
    empty_pages: float = 0.0
    late_shard_ends: float = 0.0
    endless_subscriptions: float = 0.0
    replayed_subscriptions: float = 0.0
    failed_entries: float = 0.0
    shuffled_puts: float = 0.0
    reshard_interval: timedelta = _NO_TIME
    on_demand_scaling: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """Check types and values.

        Raises:
            TypeError: for a field of a wrong type.
            ValueError: for a share outside 0 to 1, a duration that is negative or not a whole
                number of milliseconds, and a negative ``on_demand_scaling``.
        """
        for name, default in DEFAULTS.items():
            value = getattr(self, name)
            if isinstance(default, timedelta):
                require(name, value, timedelta)
                duration(name, value)
            elif isinstance(default, float):
                require(name, value, float, int)
            else:
                require(name, value, int)
            if name != "seed" and value < type(default)(0):
                raise ValueError(f"{name} must not be negative, not {value!r}")
            if isinstance(default, float) and value > 1:
                raise ValueError(f"{name} must be at most 1, not {value!r}")

    def arguments(self) -> list[str]:
        """The arguments of the server."""
        given = {name: getattr(self, name) for name in DEFAULTS}
        words: list[str] = []
        for name, value in given.items():
            if value != DEFAULTS[name]:
                text = duration(name, value) if isinstance(value, timedelta) else str(value)
                words += [option(name), str(text)]
        return words


def option(name: str) -> str:
    """The option of a field on the command line."""
    return "--" + name.replace("_", "-")


DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Behaviour)}
