"""A live view of a query, and where it appears."""

from __future__ import annotations

import io
import sys
import threading
import time
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis import MissingPackageError
from spark_kinesis._watch import watching
from spark_kinesis._watch.inside import InsideView
from spark_kinesis._watch.watching import Watch, watch

from .given import seen, steps
from .test_inside import Query

if TYPE_CHECKING:
    from spark_kinesis._watch.snapshot import Snapshot


def inside(query: Query) -> InsideView:
    return InsideView(query)  # type: ignore[arg-type]


class Shown(watching.Display):
    """A display that remembers."""

    def __init__(self) -> None:
        self.looks: list[str | None] = []
        self.told: list[str] = []
        self.is_closed = False

    def show(self, snapshot: Snapshot) -> None:
        self.looks.append(snapshot.status)

    def tell(self, text: str) -> None:
        self.told.append(text)

    def close(self) -> None:
        self.is_closed = True


def wait_for(condition: Any) -> None:
    while not condition():
        time.sleep(0.01)


TICK = timedelta(milliseconds=1)


def test_a_view_ends_with_its_query_and_shows_the_end() -> None:
    query, shown = Query(), Shown()
    view = Watch(inside(query), TICK, shown)
    wait_for(lambda: len(shown.looks) > 3)
    assert not view.wait(TICK)
    query.isActive = False
    assert view.wait()
    assert shown.looks[-1] == "Stopped"
    assert view.snapshot.status == "Stopped"
    assert (shown.told, shown.is_closed) == ([], True)


def test_a_view_can_be_stopped_before_its_query() -> None:
    query, shown = Query(), Shown()
    view = Watch(inside(query), TICK, shown)
    view.stop()
    assert view.wait()
    assert shown.is_closed
    view.stop()  # once more does no harm


def test_a_view_survives_no_failure_but_says_it() -> None:
    query, shown = Query(), Shown()
    view = Watch(inside(query), TICK, shown)
    del query.reports
    assert view.wait()
    assert shown.told[0].startswith("The view ended: AttributeError: ")
    assert shown.is_closed


def test_a_view_whose_first_look_fails_closes_its_display() -> None:
    query, shown = Query(), Shown()
    del query.reports
    with pytest.raises(AttributeError):
        Watch(inside(query), TICK, shown)
    assert shown.is_closed


@pytest.mark.parametrize("fails", [False, True])
def test_stopping_does_not_wait_for_a_session_that_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
    fails: bool,
) -> None:
    monkeypatch.setattr(watching, "STOP_SECONDS", 0.01)
    asked, answer = threading.Event(), threading.Event()

    class Silent(InsideView):
        def look(self) -> Snapshot:
            if threading.current_thread() is not threading.main_thread():
                asked.set()
                answer.wait()
                if fails:
                    raise ConnectionError("the session has ended")
            return super().look()

    shown = Shown()
    view = Watch(Silent(Query()), TICK, shown)  # type: ignore[arg-type]
    assert asked.wait(60)
    view.stop()
    assert not view.wait(TICK)
    answer.set()
    assert view.wait()
    assert (len(shown.looks), shown.told) == (1, [])  # What comes later is not shown.


def test_lines_appear_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    query = Query()
    view = watch(query, interval=timedelta(milliseconds=200))  # type: ignore[arg-type]
    query.isActive = False
    assert view.wait()
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all("No micro-batch was planned yet." in it for it in lines)


def test_a_terminal_gets_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stdout", terminal)
    shown = watching.display(terminal)
    assert isinstance(shown, watching.TerminalDisplay)
    shown.show(seen({0: 3600.0}, steps(3.0, 0, late=3600)))
    shown.tell("[bold]the end")
    shown.close()
    assert "catches up at 2026-11-23 12:30:00" in terminal.getvalue()
    assert "[bold]the end" in terminal.getvalue()


def test_a_kernel_gets_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    assert isinstance(watching.display(io.StringIO()), watching.NotebookDisplay)
    shell = SimpleNamespace(get_ipython=SimpleNamespace)  # IPython on a terminal
    monkeypatch.setitem(sys.modules, "IPython", shell)
    assert type(watching.display(io.StringIO())) is watching.Display


def test_a_short_interval_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must be at least 0:00:00\.2"):
        watch(Query(), interval=timedelta())  # type: ignore[arg-type]


def test_without_rich_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "find_spec", lambda _: None)
    assert type(watching.display(io.StringIO())) is watching.Display
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    with pytest.raises(MissingPackageError, match="pip install rich"):
        watching.display(terminal)
