"""A snapshot as HTML with charts: a part of a notebook, or a page of its own.

Nothing is loaded from elsewhere. A notebook that is not trusted loses its styles. The parts read
well without them.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from html import escape
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

from spark_kinesis._errors import MissingPackageError
from spark_kinesis._json import plain
from spark_kinesis._offsets import short_id
from spark_kinesis._times import time_text

from . import sentences

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .snapshot import ShardView, Snapshot, Totals

KEPT = 600
_MOST_ROWS = 50
_INCHES = (10.0, 5.5)
_MOST_BARS = 20
_BLUE, _ORANGE, _GREY = "#1f77b4", "#d95f02", "#666666"
_UNITS = ((86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse } th, td { padding: .15rem .8rem; text-align: right }
th:first-child, td:first-child, th:last-child, td:last-child { text-align: left }
tbody tr:nth-child(odd) { background: #8881 } img, svg { max-width: 100%; height: auto }
pre { overflow-x: auto; background: #8881; padding: .8rem } .forecast { font-weight: bold }
:root { color-scheme: light dark } img { background: white }
"""


class History:
    """The last snapshot, and the totals of the last 600, for charts."""

    def __init__(self, first: Snapshot) -> None:
        """Begin with a snapshot."""
        self._totals: deque[tuple[datetime, Totals]] = deque(maxlen=KEPT)
        self.add(first)

    def __iter__(self) -> Iterator[tuple[datetime, Totals]]:
        """The totals and their times, oldest first."""
        return iter(list(self._totals))

    def copy(self) -> History:
        """The same history, which does not change when a snapshot is added to this one."""
        made = History(self.last)
        made._totals = self._totals.copy()
        return made

    def add(self, snapshot: Snapshot) -> None:
        """Add a snapshot."""
        self.last = snapshot
        self._totals.append((snapshot.at, snapshot.totals))


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
    text = escape(json.dumps(snapshot.document, default=plain, indent=1, ensure_ascii=False))
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style></head>
<body>
<h1>{title}</h1>
{_content(history, "svg", None)}
<details><summary>The snapshot as JSON</summary><pre>{text}</pre></details>
<p>Made by spark-kinesis {escape(version)} at {time_text(snapshot.at)}.</p>
</body>
</html>
"""


def _content(history: History, kind: Literal["png", "svg"], most: int | None) -> str:
    snapshot = history.last
    at = f"{snapshot.place}, {time_text(snapshot.at)}"
    lines = [
        f"{at}. {snapshot.status}." if snapshot.status else f"{at}.",
        *sentences.details(snapshot),
        *snapshot.notes,
        sentences.cost(snapshot),
    ]
    forecast = sentences.outlook(snapshot.forecast, snapshot.at)
    parts = [
        f'<p class="forecast">{escape(forecast)}</p>',
        *(f"<p>{escape(it)}</p>" for it in lines),
        _image(history, kind),
        _table(snapshot, most),
        *(
            f"<p>Splits and merges of {escape(stream)}</p>"
            f"<pre>{escape(chr(10).join(map(sentences.branch, nodes)))}</pre>"
            for stream, nodes in sentences.forks(snapshot).items()
        ),
    ]
    return "\n".join(parts)


def _image(history: History, kind: Literal["png", "svg"]) -> str:
    last = history.last
    says = f"{sentences.totals(last.totals)}. {sentences.outlook(last.forecast, last.at)}"
    form = "svg+xml" if kind == "svg" else kind
    source = f"data:image/{form};base64,{b64encode(picture(history, kind)).decode()}"
    return f'<p><img src="{source}" alt="{escape(says)}"></p>'


def _table(snapshot: Snapshot, most: int | None) -> str:
    head = "".join(f"<th>{it}</th>" for it in sentences.HEAD)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(it)}</td>' for it in cells)}</tr>"
        for cells in sentences.rows(snapshot, most)
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    hidden = sentences.hidden(snapshot, most)
    return f"{table}<p>{hidden}</p>" if hidden else table


def check_matplotlib() -> None:
    """Check that charts can be drawn.

    Raises:
        MissingPackageError: if matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise MissingPackageError("the charts need matplotlib: pip install matplotlib")


def picture(history: History, kind: Literal["png", "svg"]) -> bytes:
    """The charts as an image.

    Raises:
        MissingPackageError: if matplotlib is not installed.
    """
    file = BytesIO()
    figure(history).savefig(file, format=kind)
    return file.getvalue()


def figure(history: History) -> Figure:
    """Four charts: the lag and the rates over time, and now the lag by shard and the phases.

    Raises:
        MissingPackageError: if matplotlib is not installed.
    """
    check_matplotlib()
    from matplotlib.figure import Figure  # noqa: PLC0415 optional, and slow to load

    # Not pyplot: it keeps figures, and belongs to the main thread.
    made = Figure(figsize=_INCHES, layout="constrained")
    (lag, rates), (shards, phases) = made.subplots(2, 2)
    _draw_lag(lag, history)
    _draw_rates(rates, history)
    _draw_shards(shards, history.last.shards)
    _draw_phases(phases, history)
    return made


def _draw_lag(axes: Any, history: History) -> None:
    lags = [it.lag.total_seconds() if it.lag is not None else None for _, it in history]
    size, unit = _unit(max((it for it in lags if it is not None), default=0))
    _over_time(axes, history, [None if it is None else it / size for it in lags], _BLUE)
    axes.set_title("Largest lag of a shard")
    axes.set_ylabel(unit)


def _draw_rates(axes: Any, history: History) -> None:
    _over_time(axes, history, [it.arriving for _, it in history], _BLUE, "in")
    _over_time(axes, history, [it.processed for _, it in history], _ORANGE, "out")
    axes.set_title("Records per second")
    axes.legend(loc="upper left")


def _over_time(
    axes: Any, history: History, values: Sequence[float | None], colour: str, label: str = ""
) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter  # noqa: PLC0415 optional

    times = [at.astimezone(timezone.utc) for at, _ in history]
    numbers = [float("nan") if it is None else it for it in values]
    axes.plot(times, numbers, color=colour, label=label, marker=".", markersize=3)
    locator = AutoDateLocator(tz=timezone.utc)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    form = ConciseDateFormatter(locator, tz=timezone.utc)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(form)
    _from_zero(axes)


def _draw_shards(axes: Any, shards: Sequence[ShardView]) -> None:
    shown = [it for it in shards if it.lag is not None][:_MOST_BARS]
    lags = [it.lag.total_seconds() for it in shown if it.lag is not None]
    size, unit = _unit(max(lags, default=0))
    names = [short_id(it.shard) for it in shown]
    axes.bar(range(len(lags)), [it / size for it in lags], color=_BLUE)
    _from_zero(axes)
    axes.set_xticks(range(len(names)), names)
    more = f" (the largest {_MOST_BARS})" if len(shards) > _MOST_BARS else ""
    axes.set_title(f"Lag by shard{more}")
    axes.set_ylabel(unit)


def _draw_phases(axes: Any, history: History) -> None:
    batch = history.last.batch
    found = {} if batch is None else batch.phases
    parts = sorted((millis, name) for name, millis in found.items() if name != "triggerExecution")
    axes.barh([name for _, name in parts], [millis for millis, _ in parts], color=_ORANGE)
    axes.set_title(f"Phases of micro-batch {batch.number}" if batch else "Phases")
    axes.set_xlabel("milliseconds")
    if not parts:
        says = "only the query itself knows its phases"
        axes.text(0.5, 0.5, says, transform=axes.transAxes, ha="center", color=_GREY)
        axes.set_xticks([])
        axes.set_yticks([])


def _from_zero(axes: Any) -> None:
    """Begin at zero, and leave room above it even if all values are zero."""
    axes.set_ylim(0, max(1.0, axes.get_ylim()[1]))


def _unit(seconds: float) -> tuple[float, str]:
    """The unit in which a number of seconds reads best."""
    return next(((size, name) for size, name in _UNITS if seconds >= 2 * size), _UNITS[-1])
