"""Fields that are options of the connector: each is declared once, with its name and type there.

A field knows its types, its text in Spark's options, and whether it is secret. Python checks types.
The connector checks values: those of a source when a DataFrame is defined, those of a sink when a
batch write begins, or with the first micro-batch of a streaming query.
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from difflib import get_close_matches
from typing import Any, TypeVar, final, get_args

K = TypeVar("K")
V_co = TypeVar("V_co", covariant=True)

ABSENT: type = type(None)
_MILLISECOND = timedelta(milliseconds=1)
_USER_IN_URL = re.compile(r"(?<=://)\S*(?=@)")  # a password may contain a slash, and an @

MASK = "***"
_SECRETS: set[str] = set()  # the names of all secret options, for mappings of options


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """What a field is in the connector.

    Attributes:
        name: name of the option.
        kind: type of the option, as in ``tests/golden/options.json``.
        types: types of the field.
        words: ``Literal`` of the strings that the field accepts; ``None`` for any.
        required: whether the field has no default.
        secret: whether no message and no ``repr`` shows the value.
    """

    name: str
    kind: str
    types: tuple[type, ...]
    words: object = None
    required: bool = False
    secret: bool = False

    def __post_init__(self) -> None:
        """Add a secret to those that the mappings of options mask."""
        if self.secret:
            _SECRETS.add(self.name)

    def check(self, name: str, value: object) -> None:
        """Refuse a value of another type, or another word.

        Raises:
            TypeError: names the field, and the value unless it is secret.
            ValueError: as ``TypeError``.
        """
        absent = () if self.required else (ABSENT,)
        require(name, value, *self.types, *absent, secret=self.secret)
        if self.words is not None and isinstance(value, str):
            require_word(name, value, self.words)

    def text(self, name: str, value: Any) -> str | None:
        """The value as the connector reads it.

        Raises:
            ValueError: if a duration is not a whole number of milliseconds.
        """
        if isinstance(value, timedelta):
            return duration(name, value)
        if isinstance(value, str) and self.words is not None:
            return _camel_case(value)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(os.fspath(value) if isinstance(value, os.PathLike) else value)


def needed(name: str, kind: str = "text", *, secret: bool = False) -> dict[str, Option]:
    """The metadata of a field that is an option and has no default."""
    return {"option": Option(name=name, kind=kind, types=(str,), required=True, secret=secret)}


def option(name: str, kind: str, *types: type, words: object = None, secret: bool = False) -> Any:
    """A field that is an option, ``None`` by default."""
    declared = Option(name=name, kind=kind, types=types, words=words, secret=secret)
    return field(default=None, metadata={"option": declared})


def string(name: str, *, secret: bool = False) -> Any:
    """A field with a text."""
    return option(name, "text", str, secret=secret)


def url(name: str) -> Any:
    """A field with a URL."""
    return option(name, "url", str)


def switch(name: str) -> Any:
    """A field that is true or false."""
    return option(name, "boolean", bool)


def number(name: str) -> Any:
    """A field with a whole number."""
    return option(name, "number", int)


def size(name: str) -> Any:
    """A field with a number of bytes."""
    return option(name, "size", int)


def period(name: str, words: object = None) -> Any:
    """A field with a duration, or with one of the words."""
    types = (timedelta,) if words is None else (timedelta, str)
    return option(name, "duration", *types, words=words)


def word(name: str, words: object) -> Any:
    """A field with one of the words of a ``Literal``, in snake case."""
    return option(name, "word", str, words=words)


def declared(owner: Any) -> dict[str, Option]:
    """The options that an object or its class declares, by field."""
    return {it.name: it.metadata["option"] for it in fields(owner) if "option" in it.metadata}


def _camel_case(snake: str) -> str:
    first, *others = snake.split("_")
    return first + "".join(other.title() for other in others)


def require(name: str, value: object, *types: type, secret: bool = False) -> None:
    """Refuse a value of another type.

    Args:
        name: the field, for the message.
        value: the value of the field.
        types: the accepted types. A ``bool`` is not accepted as an ``int``.
        secret: whether to keep the value out of the message.

    Raises:
        TypeError: names the field, the accepted types and, unless it is secret, the value. A
            password in a URL is masked.
    """
    is_bool_for_int = isinstance(value, bool) and bool not in types
    if isinstance(value, types) and not is_bool_for_int:
        return
    expected = " or ".join("None" if t is ABSENT else t.__name__ for t in types)
    kind = type(value).__name__
    shown = kind if secret else f"{without_password(repr(value))} ({kind})"
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


def whole(value: Any) -> Any:
    """A whole number of another type, such as NumPy's, as an ``int``. Other values as they are."""
    if isinstance(value, int):
        return value
    try:
        return operator.index(value)
    except TypeError:  # such as an array of one number, which has the method
        return value


def without_password(text: str) -> str:
    """A text for people: in a URL, the user and the password are masked."""
    return _USER_IN_URL.sub(MASK, text)


def present(options: dict[str, str | None]) -> dict[str, str]:
    """Return only the options that are set."""
    return {name: value for name, value in options.items() if value is not None}


class FrozenMapping(Mapping[K, V_co]):
    """A copy of a mapping that cannot change, and that is hashable if its values are."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[K, V_co]) -> None:
        """Copy the entries."""
        self._entries = dict(entries)

    def __getitem__(self, key: K) -> V_co:
        return self._entries[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __repr__(self) -> str:
        return repr(self._entries)


@final
class SparkOptions(FrozenMapping[str, str]):
    """Options for Spark's readers and writers. The values are complete; ``repr`` masks secrets."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Show every option, and ``'***'`` in place of a secret."""
        shown = {
            name: MASK if name in _SECRETS else without_password(text)
            for name, text in self.items()
        }
        return f"SparkOptions({shown!r})"


class Declared:
    """Base of frozen dataclasses whose fields are options, ``None`` by default."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Check the types of the options, and make whole numbers ``int``."""
        for name, it in declared(self).items():
            value = getattr(self, name)
            if int in it.types:
                value = whole(value)
                object.__setattr__(self, name, value)
            it.check(name, value)

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
        words = (f"{name}={without_password(repr(value))}" for name, value in shown.items())
        return f"{type(self).__name__}({', '.join(words)})"

    def options(self) -> Mapping[str, str]:
        """Return the options that the fields set. The ``repr`` of the mapping masks secrets.

        Raises:
            ValueError: if a duration is not a whole number of milliseconds.
        """
        given = {it.name: it.text(name, getattr(self, name)) for name, it in declared(self).items()}
        return SparkOptions(present(given))
