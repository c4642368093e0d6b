"""The page, the charts, and where a live view appears."""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser

import numpy as np
import pytest

from spark_kinesis import MissingPackageError
from spark_kinesis._watch import page as pages
from spark_kinesis._watch.page import KEPT, History, figure, fragment, page, picture
from spark_kinesis._watch.snapshot import Snapshot, snapshot

from .given import NOW, facts, steps
from .test_terminal import BATCH, BEHIND, shard

LINK = "<a href='https://a.b/'>&amp;</a>"
FACTS = facts(BEHIND, steps=steps(3.0, 0, 1, late=600), batch=replace(BATCH, phases={LINK: 5}))


def seen(seconds: int) -> Snapshot:
    """The same position, some seconds later."""
    later = {
        number: replace(shard((it.records or 0) + seconds), position=it.position)
        for number, it in BEHIND.items()
    }
    found = facts(later, steps=FACTS.steps, batch=FACTS.batch)
    return snapshot(replace(found, at=NOW + timedelta(seconds=seconds)))


def history(looks: int = 3) -> History:
    found = History(seen(0))
    for number in range(1, looks):
        found.add(seen(2 * number))
    return found


class Text(HTMLParser):
    """The text and the tags of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += [data.strip()] if data.strip() else []


def test_a_page_says_what_the_terminal_says() -> None:
    found = Text(page(history(), "1.2.3"))
    assert (
        "The query catches up at 2026-11-23 12:30:06 UTC, in 30 min 2 s. Shard 0 decides."
        in found.text
    )
    at = found.text.index("forecast (UTC)")
    assert found.text[at + 1 : at + 8] == [
        "0", "1 h", "~3,604", "1.0/s", "3.0/s", "3.00x", "catches up at 12:30:06",
    ]  # fmt: skip
    assert found.text[-1] == "Made by spark-kinesis 1.2.3 at 2026-11-23 12:00:04 UTC."
    assert any('"outlook": "catches_up"' in it for it in found.text)


def test_a_page_loads_nothing_and_takes_text_as_text() -> None:
    hostile = replace(FACTS, query=LINK, place=LINK, notes=(LINK,), status=LINK)
    found = Text(page(History(snapshot(hostile)), LINK))
    assert not [tag for tag, _ in found.tags if tag in {"a", "script", "link", "iframe"}]
    (image,) = [it for tag, it in found.tags if tag == "img"]
    source = image["src"] or ""
    assert source.startswith("data:image/svg+xml;base64,")
    picture = b64decode(source.partition(",")[2]).decode()
    assert not re.search(r'(href|src)="http', picture)
    assert LINK in found.text
    assert f"{LINK}, 2026-11-23 12:00:00 UTC. {LINK}." in found.text


def test_a_part_of_a_notebook_has_a_png_and_few_rows() -> None:
    many = facts(dict.fromkeys(range(60), BEHIND[0]), steps=steps(1.0, *range(60)))
    found = Text(fragment(History(snapshot(many))))
    (image,) = [it for tag, it in found.tags if tag == "img"]
    assert (image["src"] or "").startswith("data:image/png;base64,iVBOR")
    assert (image["alt"] or "").startswith("Lag 1 h, ")
    assert sum(tag == "tr" for tag, _ in found.tags) == 51
    assert "and 10 more shards with a smaller lag" in found.text


def test_the_charts_show_the_figures() -> None:
    lag, rates, shards, phases = figure(history(5)).axes
    assert lag.get_ylabel() == "minutes"
    assert max(np.asarray(lag.lines[0].get_ydata(), float)) == pytest.approx(60, rel=0.01)
    assert [it.get_label() for it in rates.lines] == ["in", "out"]
    assert [it.get_text() for it in shards.get_xticklabels()] == ["0", "1"]
    assert phases.get_title() == "Phases of micro-batch 12"


def test_charts_can_be_drawn_without_any_figure() -> None:
    empty = History(snapshot(facts({})))
    assert picture(empty, "png").startswith(b"\x89PNG")
    *_, shards, phases = figure(empty).axes
    assert shards.get_ylim() == (0, 1)
    assert [it.get_text() for it in phases.texts] == ["only the query itself knows its phases"]


def test_history_is_bounded() -> None:
    found = History(snapshot(FACTS))
    for _ in range(KEPT + 9):
        found.add(snapshot(FACTS))
    assert len(list(found)) == KEPT


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "find_spec", lambda _: None)
    with pytest.raises(MissingPackageError, match="pip install matplotlib"):
        picture(history(), "png")
