"""Fields that are options of the connector: each is declared once, with its name and type there."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any, get_args

from .values import ABSENT, duration, require, require_word, text


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
        if isinstance(value, os.PathLike):
            return str(os.fspath(value))
        return text(value) if self.words is None else _camel_case(value)


def needed(name: str, kind: str = "text", *, secret: bool = False) -> dict[str, Option]:
    """The metadata of a field that is an option and has no default."""
    return {"option": Option(name=name, kind=kind, types=(str,), required=True, secret=secret)}


def option(name: str, kind: str, *types: type, words: object = None, secret: bool = False) -> Any:
    """A field that is an option, ``None`` by default."""
    declared = Option(name=name, kind=kind, types=types, words=words, secret=secret)
    return field(default=None, metadata={"option": declared}, repr=not secret)


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


def check(owner: Any) -> None:
    """Check the types of all fields that are options.

    Raises:
        TypeError: as ``Option.check``.
        ValueError: as ``Option.check``.
    """
    for name, it in declared(owner).items():
        it.check(name, getattr(owner, name))


def texts(owner: Any) -> dict[str, str | None]:
    """The options of an object, by the connector's names.

    Raises:
        ValueError: if a duration is not a whole number of milliseconds.
    """
    return {it.name: it.text(name, getattr(owner, name)) for name, it in declared(owner).items()}


def spark_words(words: object) -> list[str]:
    """The words of a ``Literal`` as the connector reads them."""
    return [str(_camel_case(it)) for it in get_args(words)]


def _camel_case(snake: str | None) -> str | None:
    first, *others = (snake or "").split("_")
    return None if snake is None else first + "".join(other.title() for other in others)
