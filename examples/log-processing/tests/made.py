"""Hypothesis strategies: records, events and payloads."""

from __future__ import annotations

import gzip
import json
from typing import Any

from hypothesis import strategies as st

from log_processing.events.event import KinesisIdentity, KinesisRecord, LogEvent

NOW_S = 1_795_000_000  # 2026-11-18
NOW_MS = NOW_S * 1000

texts = st.text(st.characters(), max_size=40)  # also halves of characters, and control characters
clean_texts = st.text(max_size=60)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=8
)
fields = st.fixed_dictionaries(
    {},
    optional={
        "timestamp": st.integers(NOW_MS - 10**6, NOW_MS) | json_values,
        "level": st.sampled_from(["INFO", "ERROR", "error", ""]) | json_values,
        "service": texts | json_values,
        "message": texts | json_values,
        "context": st.dictionaries(texts, json_values) | json_values,
        "other": json_values,
    },
)
log_entries = st.fixed_dictionaries(
    {},
    optional={
        "id": texts,
        "timestamp": st.integers(NOW_MS - 10**6, NOW_MS) | json_values,
        "message": texts | fields.map(json.dumps) | json_values,
    },
)
payloads = st.fixed_dictionaries(
    {
        "messageType": st.sampled_from(["DATA_MESSAGE", "CONTROL_MESSAGE"]) | json_values,
        "logGroup": texts | json_values,
        "logStream": texts | json_values,
        "logEvents": st.lists(log_entries | json_values, max_size=5) | json_values,
    }
)
data = st.one_of(
    st.binary(),
    st.binary().map(b"\x1f\x8b".__add__),
    st.binary().map(gzip.compress),
    json_values.map(json.dumps).map(str.encode),
    fields.map(json.dumps).map(str.encode),
    payloads.map(json.dumps).map(str.encode).map(gzip.compress),
)


def record(content: bytes, number: int = 0, arrival_ms: int = NOW_MS) -> KinesisRecord:
    """A record with a sequence number."""
    return KinesisRecord(
        "logs", "shardId-000000000000", str(10**20 + number), 0, arrival_ms, content
    )


def log_event(message: str = "text", number: int = 0, **changes: Any) -> LogEvent:
    """An event of now."""
    identity = KinesisIdentity("logs", "shardId-000000000000", str(10**20 + number), 0, 0, NOW_MS)
    given = {"time_us": NOW_MS * 1000, "level": "INFO", "service": "checkout", "context": {}}
    return LogEvent(message=message, identity=identity, **{**given, **changes})


events = st.builds(
    log_event,
    message=clean_texts | st.integers(0, 450_000).map(lambda size: "\x00" * size),
    number=st.integers(0, 30),
    service=st.text(min_size=1, max_size=20),
    context=st.dictionaries(clean_texts.filter(bool), clean_texts, max_size=4),
)
