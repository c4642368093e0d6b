"""A snapshot as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def document(value: Any) -> Any:
    """A snapshot as objects and lists, with names as in ``fetchedRecords``.

    ``plain`` makes texts and numbers of the other values.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {_camel(it.name): document(getattr(value, it.name)) for it in fields(value)}
    if isinstance(value, Mapping):
        return {key: document(it) for key, it in value.items()}
    return [document(it) for it in value] if isinstance(value, tuple) else value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))
