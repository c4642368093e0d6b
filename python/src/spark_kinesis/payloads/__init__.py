"""What producers put into ``data``, as columns that say which payloads could not be decoded.

A function here takes a column of payloads and returns an array of outcomes, because one record may
contain several items. An outcome is a struct of ``value`` and ``reason``: a decoded item, or why
there is none. ``inline`` of ``pyspark.sql.functions`` makes a row of each outcome::

    rows = events.select("sequenceNumber", inline(payloads.json("data", "id LONG, total DOUBLE")))

``reason`` begins with a fixed word, such as ``NOT_JSON``. The word is ``CONTROL`` for a message of
the producer that contains no data, such as a heartbeat. ``or_fail`` fails the query instead.

The functions use functions of the jar. ``register`` makes them available in a session.

A schema is a ``StructType``, or DDL such as ``"id LONG NOT NULL, total DOUBLE"``. If a field is
``NOT NULL``, also in a struct, an array or a map, an item without it has the reason ``MISSING``.
DDL needs an active session.
"""

from __future__ import annotations

from ._changes import debezium, dms, dynamodb, maxwell
from ._events import cloudwatch_logs, event_bridge, inflate, json
from ._outcomes import or_fail, register
from ._registry import avro, glue, glue_schemas

__all__ = [
    "avro",
    "cloudwatch_logs",
    "debezium",
    "dms",
    "dynamodb",
    "event_bridge",
    "glue",
    "glue_schemas",
    "inflate",
    "json",
    "maxwell",
    "or_fail",
    "register",
]
