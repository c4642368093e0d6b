"""The option that names a source of a query: a number, or a name."""

from __future__ import annotations

import click
import pytest

from spark_kinesis.tools.cli import SOURCE


@pytest.mark.parametrize("text", ["0", "12", "orders", "_private", "123source", " mySource_2 "])
def test_numbers_and_names_are_accepted(text: str) -> None:
    assert SOURCE.convert(text, None, None) == text.strip()


@pytest.mark.parametrize("text", ["", "-1", "my-source", "../0", "a/b", "a:b", "größe"])
def test_what_spark_would_not_accept_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="neither the number nor the name of a source"):
        SOURCE.convert(text, None, None)
