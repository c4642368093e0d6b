"""A snapshot as HTML: a part of a notebook, or a page of its own. Nothing is loaded from elsewhere.

A notebook that is not trusted loses its styles. The parts read well without them.
"""

from __future__ import annotations

import json
from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING, Literal

from spark_kinesis._json import plain
from spark_kinesis.tools.facts.streams import short_id

from . import sentences, words
from .charts import picture
from .document import document

if TYPE_CHECKING:
    from spark_kinesis.live.model.history import History
    from spark_kinesis.live.model.snapshot import ShardView, Snapshot

_MOST_ROWS = 50
_HEAD = ("shard", "lag", "unread", "in", "out", "speed", "forecast (UTC)")
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse } th, td { padding: .15rem .8rem; text-align: right }
th:first-child, td:first-child, th:last-child, td:last-child { text-align: left }
tbody tr:nth-child(odd) { background: #8881 } img, svg { max-width: 100%; height: auto }
pre { overflow-x: auto; background: #8881; padding: .8rem } .forecast { font-weight: bold }
:root { color-scheme: light dark } img { background: white }
"""


def fragment(history: History) -> str:
    """The part of a notebook: figures, charts, and the shards with the largest lag."""
    return _content(history, "png", _MOST_ROWS)


def page(history: History, version: str) -> str:
    """A page of its own, with all shards and the snapshot as JSON.

    Args:
        history: what to show.
        version: version of this package.
    """
    snapshot = history.last
    title = f"spark-kinesis: {escape(snapshot.query or 'query')}"
    text = escape(json.dumps(document(snapshot), default=plain, indent=1, ensure_ascii=False))
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style></head>
<body>
<h1>{title}</h1>
{_content(history, "svg", None)}
<details><summary>The snapshot as JSON</summary><pre>{text}</pre></details>
<p>Made by spark-kinesis {escape(version)} at {words.moment(snapshot.at)}.</p>
</body>
</html>
"""


def _content(history: History, kind: Literal["png", "svg"], most: int | None) -> str:
    snapshot = history.last
    parts = [
        f'<p class="forecast">{escape(sentences.outlook(snapshot.forecast, snapshot.at))}</p>',
        *(f"<p>{escape(it)}</p>" for it in _lines(snapshot)),
        _image(history, kind),
        _table(snapshot, most),
        *_trees(snapshot),
    ]
    return "\n".join(parts)


def _lines(snapshot: Snapshot) -> list[str]:
    at = f"{snapshot.place}, {words.moment(snapshot.at)}"
    lines = [
        f"{at}. {snapshot.status}." if snapshot.status else f"{at}.",
        f"{sentences.totals(snapshot.totals)}.",
        sentences.batch(snapshot.batch),
    ]
    if snapshot.batch is not None and snapshot.batch.phases:
        lines.append(f"Phases: {sentences.phases(snapshot.batch.phases)}.")
    if snapshot.counters is not None:
        lines.append(sentences.counters(snapshot.counters))
    return [*lines, *snapshot.notes, sentences.cost(snapshot)]


def _image(history: History, kind: Literal["png", "svg"]) -> str:
    last = history.last
    says = f"{sentences.totals(last.totals)}. {sentences.outlook(last.forecast, last.at)}"
    data = picture(history, kind)
    form = "svg+xml" if kind == "svg" else kind
    source = f"data:image/{form};base64,{b64encode(data).decode()}"
    return f'<p><img src="{source}" alt="{escape(says)}"></p>'


def _table(snapshot: Snapshot, most: int | None) -> str:
    several = len({it.stream for it in snapshot.shards}) > 1
    rows = [_row(it, snapshot, several=several) for it in snapshot.shards[:most]]
    head = "".join(f"<th>{it}</th>" for it in _HEAD)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    hidden = len(snapshot.shards) - len(rows)
    return f"{table}<p>and {hidden:,} more shards with a smaller lag</p>" if hidden else table


def _row(view: ShardView, snapshot: Snapshot, *, several: bool) -> str:
    cells = (
        f"{view.stream}/{short_id(view.shard)}" if several else short_id(view.shard),
        words.duration(view.lag),
        words.count(view.records, is_counted=view.is_counted),
        words.per_second(view.arriving),
        words.per_second(view.processed),
        words.speed(view.speed),
        sentences.row_outlook(view, snapshot.at),
    )
    return f"<tr>{''.join(f'<td>{escape(it)}</td>' for it in cells)}</tr>"


def _trees(snapshot: Snapshot) -> list[str]:
    return [
        f"<p>Splits and merges of {escape(stream)}</p>"
        f"<pre>{escape(chr(10).join(map(sentences.branch, nodes)))}</pre>"
        for stream, nodes in snapshot.trees.items()
        if any(it.parents for it in nodes)
    ]
