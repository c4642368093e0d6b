"""Fields that are options of the connector: each is declared once, with its name and type there.

A field knows its types, its text in Spark's options, and whether it is secret. Python checks types.
The connector checks values: those of a source when a DataFrame is defined, those of a sink when a
batch write begins, or with the first micro-batch of a streaming query.
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any, final

ABSENT: type = type(None)
MASK = "***"
_MILLISECOND = timedelta(milliseconds=1)
_USER_IN_URL = re.compile(r"(?<=://)\S*(?=@)")  # a password may contain a slash, and an @
_SECRETS: set[str] = set()  # the names of all secret options, for mappings of options


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """What a field is in the connector.

    Attributes:
        name: name of the option.
        types: types of the field.
        secret: whether no message and no ``repr`` shows the value.
        is_word: whether the connector writes its words in camel case, and Python in snake case.
    """

    name: str
    types: tuple[type, ...]
    secret: bool = False
    is_word: bool = False

    def __post_init__(self) -> None:
        """Add a secret to those that the mappings of options mask."""
        if self.secret:
            _SECRETS.add(self.name)

    def text(self, name: str, value: Any) -> str | None:
        """The value of the field ``name`` as the connector reads it.

        Raises:
            ValueError: if a duration is not a whole number of milliseconds.
        """
        if value is None:
            return None
        if isinstance(value, timedelta):
            milliseconds, rest = divmod(value, _MILLISECOND)
            if rest:
                raise ValueError(f"{name} must be a whole number of milliseconds, not {value!r}")
            return f"{milliseconds}ms"
        if isinstance(value, bool):
            return str(value).lower()
        if self.is_word:
            first, *others = value.split("_")
            return str(first + "".join(map(str.title, others)))
        return str(os.fspath(value) if isinstance(value, os.PathLike) else value)


def needed(name: str, *, secret: bool = False) -> dict[str, Option]:
    """The metadata of a text field that is an option and has no default."""
    return {"option": Option(name=name, types=(str,), secret=secret)}


def option(name: str, *types: type, secret: bool = False, is_word: bool = False) -> Any:
    """A field that is an option, ``None`` by default."""
    declared = Option(name=name, types=(*types, ABSENT), secret=secret, is_word=is_word)
    return field(default=None, metadata={"option": declared})


def part(*types: type) -> Any:
    """A field with an object of options, ``None`` by default."""
    return field(default=None, metadata={"part": (*types, ABSENT)})


def declared(owner: Any) -> dict[str, Option]:
    """The options that an object or its class declares, by field."""
    return {it.name: it.metadata["option"] for it in fields(owner) if "option" in it.metadata}


def require(name: str, value: object, *types: type, secret: bool = False) -> None:
    """Refuse a value of another type. A ``bool`` is not accepted as an ``int``.

    Raises:
        TypeError: names the field, the accepted types and, unless it is secret, the value. A
            password in a URL is masked.
    """
    is_bool_for_int = isinstance(value, bool) and bool not in types
    if isinstance(value, types) and not is_bool_for_int:
        return
    expected = " or ".join("None" if t is ABSENT else t.__name__ for t in types)
    kind = type(value).__name__
    shown = kind if secret else f"{_without_password(repr(value))} ({kind})"
    raise TypeError(f"{name} must be {expected}, not {shown}")


def present(options: Mapping[str, str | None]) -> dict[str, str]:
    """Return only the options that are set."""
    return {name: value for name, value in options.items() if value is not None}


@final
class SparkOptions(dict[str, str]):
    """Options for Spark's readers and writers. The values are complete; ``repr`` masks secrets."""

    def __repr__(self) -> str:
        """Show every option, and ``'***'`` in place of a secret."""
        shown = {
            name: MASK if name in _SECRETS else _without_password(text)
            for name, text in self.items()
        }
        return f"SparkOptions({shown!r})"


class Declared:
    """Base of frozen dataclasses whose fields are options, or parts with options."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Check the types of the options, and make whole numbers, such as NumPy's, ``int``."""
        for name, types in _parts(self).items():
            require(name, getattr(self, name), *types, secret=True)
        for name, it in declared(self).items():
            value = getattr(self, name)
            if int in it.types and not isinstance(value, int):
                value = _whole(value)
                object.__setattr__(self, name, value)
            require(name, value, *it.types, secret=it.secret)

    def __repr__(self) -> str:
        """Show the fields that were set, the stream first, with secrets masked."""
        options, all_fields = declared(self), fields(self)  # type: ignore[arg-type]
        names = sorted((it.name for it in all_fields), key=lambda it: not it.startswith("stream_"))
        given = {name: getattr(self, name) for name in names}
        shown = {
            name: MASK if name in options and options[name].secret else value
            for name, value in given.items()
            if value is not None
        }
        words = (f"{name}={_without_password(repr(value))}" for name, value in shown.items())
        return f"{type(self).__name__}({', '.join(words)})"

    def options(self) -> Mapping[str, str]:
        """Return the options that the fields set. The ``repr`` of the mapping masks secrets.

        Raises:
            ValueError: if a duration is not a whole number of milliseconds.
        """
        given = {it.name: it.text(name, getattr(self, name)) for name, it in declared(self).items()}
        found = SparkOptions(present(given))
        for inner in (getattr(self, name) for name in _parts(self)):
            found.update({} if inner is None else inner.options())
        return found


def _parts(owner: Any) -> dict[str, tuple[type, ...]]:
    return {it.name: it.metadata["part"] for it in fields(owner) if "part" in it.metadata}


def _whole(value: Any) -> Any:
    try:
        return operator.index(value)
    except TypeError:  # such as an array of one number, which has the method
        return value


def _without_password(text: str) -> str:
    """A text for people: in a URL, the user and the password are masked."""
    return _USER_IN_URL.sub(MASK, text)
