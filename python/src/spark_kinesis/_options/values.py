"""Checks of Python values, and their text in Spark options."""

from __future__ import annotations

from datetime import timedelta
from difflib import get_close_matches
from typing import get_args

ABSENT: type = type(None)
_MILLISECOND = timedelta(milliseconds=1)


def require(name: str, value: object, *types: type, secret: bool = False) -> None:
    """Refuse a value of another type.

    Args:
        name: the field, for the message.
        value: the value of the field.
        types: the accepted types. A ``bool`` is not accepted as an ``int``.
        secret: whether to keep the value out of the message.

    Raises:
        TypeError: names the field, the accepted types and, unless it is secret, the value.
    """
    is_bool_for_int = isinstance(value, bool) and bool not in types
    if isinstance(value, types) and not is_bool_for_int:
        return
    expected = " or ".join("None" if t is ABSENT else t.__name__ for t in types)
    shown = type(value).__name__ if secret else f"{value!r} ({type(value).__name__})"
    raise TypeError(f"{name} must be {expected}, not {shown}")


def require_word(name: str, value: object, words: object) -> None:
    """Refuse a value that is neither ``None`` nor one of the words of a ``Literal``.

    Raises:
        TypeError: if the value is not a string.
        ValueError: if it is another string. The message names the nearest word.
    """
    require(name, value, str, ABSENT)
    allowed = get_args(words)
    if value is None or value in allowed:
        return
    near = get_close_matches(str(value).lower(), allowed, 1)
    hint = f". Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}, not {value!r}{hint}")


def duration(name: str, value: timedelta | None) -> str | None:
    """A duration as text for an option, such as ``200ms``.

    Raises:
        ValueError: if it is not a whole number of milliseconds: options have no finer unit.
    """
    if value is None:
        return None
    milliseconds, rest = divmod(value, _MILLISECOND)
    if rest:
        raise ValueError(f"{name} must be a whole number of milliseconds, not {value!r}")
    return f"{milliseconds}ms"


def text(value: bool | int | str | None) -> str | None:
    """A plain value as text for an option."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def present(options: dict[str, str | None]) -> dict[str, str]:
    """The options that were set. The connector has the defaults of the others."""
    return {name: value for name, value in options.items() if value is not None}
