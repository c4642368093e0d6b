"""The progress of a micro-batch. It is not data, so that it never stops the job."""

from __future__ import annotations

import logging
from typing import Any

import made
import pytest
from task import SETTINGS
from test_table import Table, refusal

from log_processing import batch
from log_processing.progress import MOST_SHARDS, from_json
from log_processing.summary import MAX_SECONDS, Summary
from log_processing.table.items import MAX_ITEM_BYTES, progress_item


def busy_stream(shards: int) -> Summary:
    """A summary with the longest names. The lag of a shard is its number, in milliseconds."""
    summary = Summary()
    for number in range(shards):
        summary.newest["s" * 128, f"shardId-{number:012d}"] = made.NOW_MS - number
    for number in range(MAX_SECONDS):
        name = f"{number}" + "\x01" * 500
        event = made.log_event("\x01" * 500, number, service=name, level="\x01" * 128)
        summary.count_stored(event, made.NOW_MS)
    return summary


def test_the_progress_of_many_shards_fits_into_an_item() -> None:
    done = batch.progress(busy_stream(10_000), "query", 1, made.NOW_MS)
    assert done.shardCount == 10_000
    lags = [shard.behindMs for shard in done.shards]
    assert lags == list(range(9_999, 9_999 - MOST_SHARDS, -1))
    text = done.to_json()
    assert progress_item(("#progress#logs", "1"), text, 1).stored_bytes <= MAX_ITEM_BYTES
    assert from_json(text) == done


@pytest.mark.parametrize("code", ["AccessDeniedException", "ValidationException"])
def test_progress_that_cannot_be_stored_is_a_warning(
    code: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    table = Table([refusal(code)] * 2)
    monkeypatch.setattr(batch, "client", lambda *_: table)
    done = batch.progress(Summary(), "query", 7, made.NOW_MS)
    with caplog.at_level(logging.WARNING):
        batch.record(SETTINGS, done)
    (said,) = caplog.messages
    assert said.startswith("The dashboard lacks micro-batch 7. table 'logs'")
    assert code in said


@pytest.mark.parametrize("value", ["4b1e", None])
def test_a_batch_without_the_id_of_its_query_fails(value: str | None) -> None:
    class Context:
        def getLocalProperty(self, _: str) -> str | None:  # noqa: N802 a name of Spark
            return value

    context: Any = Context()
    if value is not None:
        assert batch.query_id(context) == value
    else:
        with pytest.raises(RuntimeError, match=r"'sql\.streaming\.queryId' is not set"):
            batch.query_id(context)
