"""Charts of what a query does, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timezone
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

from spark_kinesis._errors import MissingPackageError
from spark_kinesis.tools.facts.streams import short_id

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spark_kinesis.live.model.history import History
    from spark_kinesis.live.model.snapshot import ShardView

_INCHES = (10.0, 5.5)
_MOST_BARS = 20
_BLUE, _ORANGE, _GREY = "#1f77b4", "#d95f02", "#666666"
_UNITS = ((86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))


def check_matplotlib() -> None:
    """Check that charts can be drawn.

    Raises:
        MissingPackageError: if matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise MissingPackageError("the charts need matplotlib: pip install 'spark-kinesis[watch]'")


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
    known = [it.lag for it in history if it.lag is not None]
    size, unit = _unit(max(known, default=0))
    _over_time(axes, history, [None if it.lag is None else it.lag / size for it in history], _BLUE)
    axes.set_title("Largest lag of a shard")
    axes.set_ylabel(unit)


def _draw_rates(axes: Any, history: History) -> None:
    _over_time(axes, history, [it.arriving for it in history], _BLUE, "in")
    _over_time(axes, history, [it.processed for it in history], _ORANGE, "out")
    axes.set_title("Records per second")
    axes.legend(loc="upper left")


def _over_time(
    axes: Any, history: History, values: Sequence[float | None], colour: str, label: str = ""
) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter  # noqa: PLC0415 optional

    times = [it.at.astimezone(timezone.utc) for it in history]
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
