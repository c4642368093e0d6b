"""The type of options that name a source of a query."""

from __future__ import annotations

import re
from typing import Any

import click


class _Source(click.ParamType):  # type: ignore[type-arg] # not generic before click 8.4
    """A number, counted from 0, or a name. Spark allows these characters in a name."""

    name = "source"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        text = str(value).strip()
        if re.fullmatch(r"\w+", text, re.ASCII) is None:
            self.fail(
                f"{text!r} is neither the number nor the name of a source: names have letters, "
                "digits and underscores",
                param,
                ctx,
            )
        return text


SOURCE = _Source()
