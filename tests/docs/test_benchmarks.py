"""The figures of the benchmark that other pages quote, against its table."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import Page

TABLE = Page(name="docs/reference/benchmarks.md")
SLOWLY = "latency: 5 records/s, default checkpoints"


def value(row: str) -> float:
    """The value of a row, in the unit of the table."""
    found = re.search(rf"^\| {re.escape(row)} \| ([\d.]+) ", TABLE.text, flags=re.MULTILINE)
    assert found, f"no row {row}"
    return float(found[1])


@pytest.mark.parametrize(
    ("page", "quote", "row"),
    [
        ("README.md", r"([\d.]+) s with the defaults, measured with", f"{SLOWLY}, p50"),
        ("docs/explanation/comparison.md", r"the median delay is ([\d.]+) s", f"{SLOWLY}, p50"),
        (
            "docs/explanation/comparison.md",
            r"the median delay is [\d.]+ s and the 95th percentile ([\d.]+) s",
            f"{SLOWLY}, p95",
        ),
        (
            "docs/explanation/design.md",
            r"half of the records are processed within about ([\d.]+) s",
            "latency: 500 records/s, default checkpoints, p50",
        ),
    ],
)
def test_seconds_that_a_page_quotes(page: str, quote: str, row: str) -> None:
    found = re.search(quote, Page(name=page).text)
    assert found, f"{page} does not quote {row}"
    decimals = len(found[1].partition(".")[2])
    assert found[1] == f"{value(row) / 1000:.{decimals}f}"
