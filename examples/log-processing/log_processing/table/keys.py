"""Keys of the table. ``table/items.py`` says which attributes an item has.

The partition key is ``<service>#<hour>#b<bucket>``. The bucket spreads the events of a busy service
over several partitions of DynamoDB. The sort key is ``<timestamp>#<Kinesis identity>``: it is
unique, it sorts by time, and it is the same each time the event is stored.
"""

from __future__ import annotations

import zlib
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from log_processing.events.event import KinesisIdentity

BUCKETS = 16
MAX_SERVICE_BYTES = 512
PROGRESS_PREFIX = "#progress#"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROS = 1_000_000
_FIRST_MICROS = -62_135_596_800 * _MICROS  # the year 1
_LAST_MICROS = 253_402_300_800 * _MICROS - 1  # the year 9999


def is_in_calendar(time_us: int) -> bool:
    """Whether a time has a text: from the year 1 to the year 9999."""
    return _FIRST_MICROS <= time_us <= _LAST_MICROS


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    # isoformat pads years to four digits. strftime does not on all systems.
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()[:19]


def time_text(time_us: int) -> str:
    """A time as text of fixed width: ``2026-11-23T07:15:09.123456Z``."""
    seconds, micros = divmod(time_us, _MICROS)
    return f"{_second(seconds)}.{micros:06d}Z"


def hour_text(time_us: int) -> str:
    """The hour of a time: ``2026-11-23T07``."""
    return _second(time_us // _MICROS)[:13]


def escape_service(service: str) -> str:
    """The name of a service without ``#``."""
    return service.replace("%", "%25").replace("#", "%23")


def bucket(sort_key: str) -> int:
    """The bucket of an event, from 0 to 15."""
    return zlib.crc32(sort_key.encode()) % BUCKETS


def partition_key(service: str, hour: str, number: int) -> str:
    """The partition key of the events of a service, an hour and a bucket.

    Args:
        service: name of the service.
        hour: UTC hour, such as ``2026-11-23T07``.
        number: bucket, from 0 to 15.
    """
    return f"{escape_service(service)}#{hour}#b{number}"


def sort_key(time_us: int, identity: KinesisIdentity) -> str:
    """The sort key of an event."""
    place = f"{identity.stream}#{identity.shard_id}#{identity.sequence_number}"
    return f"{time_text(time_us)}#{place}#{identity.sub_sequence_number}#{identity.event}"


def event_keys(service: str, time_us: int, identity: KinesisIdentity) -> tuple[str, str]:
    """The partition key and the sort key of an event."""
    sort = sort_key(time_us, identity)
    return partition_key(service, hour_text(time_us), bucket(sort)), sort


def progress_keys(name: str, end_ms: int, query: str, batch: int) -> tuple[str, str]:
    """The partition key and the sort key of the progress of a micro-batch.

    Args:
        name: name of the query.
        end_ms: end of the batch, in milliseconds since 1970. The sort key begins with it, so that
            the batches of a new checkpoint come after those of the old one.
        query: ID of the query, which stays the same as long as its checkpoint.
        batch: ID of the batch.
    """
    return PROGRESS_PREFIX + name, f"{time_text(end_ms * 1000)}#{query}#{batch}"


def progress_from(name: str, start_ms: int) -> tuple[str, str]:
    """The partition key of the batches of a query, and the least sort key from a time on."""
    return PROGRESS_PREFIX + name, time_text(start_ms * 1000)
