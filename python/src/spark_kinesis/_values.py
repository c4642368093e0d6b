"""How Python values become the text of Spark options."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from difflib import get_close_matches
from typing import get_args

ABSENT: type = type(None)
_MILLISECOND = timedelta(milliseconds=1)


def require(name: str, value: object, *types: type, secret: bool = False) -> None:
    """Refuse a value of another type.

    Args:
        name: the field, for the message.
        value: what was given.
        types: what is accepted. A ``bool`` is not accepted as an ``int``.
        secret: keep the value out of the message.

    Raises:
        TypeError: naming field, accepted types and, unless secret, the value.
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
    """A duration as options take it: ``200ms``.

    Raises:
        ValueError: for a part of a millisecond, which no option can say.
    """
    return None if value is None else f"{milliseconds(name, value)}ms"


def milliseconds(name: str, value: timedelta) -> int:
    """A duration in whole milliseconds.

    Raises:
        ValueError: for a part of one.
    """
    whole, rest = divmod(value, _MILLISECOND)
    if rest:
        raise ValueError(f"{name} must be whole milliseconds, not {value!r}")
    return whole


def instant(value: datetime) -> str:
    """ISO-8601 in UTC, to the microsecond, as ``startingPosition`` takes it."""
    utc = value.astimezone(timezone.utc)
    return utc.replace(tzinfo=None).isoformat() + "Z"


def text(value: bool | int | str | None) -> str | None:
    """Spark's text of a plain value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def present(options: dict[str, str | None]) -> dict[str, str]:
    """Only what was said: defaults live in the connector."""
    return {name: value for name, value in options.items() if value is not None}
