"""The data of generated records: text with placeholders.

Time and random numbers come from the caller.
"""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from difflib import get_close_matches

HELP = """placeholders of a template:
  {{counter}}          0, 1, 2, ...; {{counter 100}} starts at 100
  {{now}}              2026-01-02T03:04:05.678Z
  {{epoch}}            the same time in milliseconds since 1970
  {{key}}              partition key of the record
  {{random 1 100}}     a whole number within these bounds
  {{random 0.50 9.99}} a number with as many decimals as its bounds
  {{choice a,b,c}}     one of these words
  {{text 20}}          this number of letters
  {{uuid}}             a random UUID"""

_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")
_NUMBER = re.compile(r"-?\d+(?:\.(\d+))?")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """The record for which a template is rendered.

    Attributes:
        number: number of the record, from 0.
        key: partition key of the record.
        now: current time, with a time zone.
    """

    number: int
    key: str
    now: datetime


Maker = Callable[[Moment, random.Random], str]


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed template: text and placeholders. ``str`` returns its source."""

    source: str
    makers: tuple[Maker, ...]

    def __str__(self) -> str:
        return self.source

    def render(self, moment: Moment, chance: random.Random) -> str:
        """The data of a record."""
        return "".join(make(moment, chance) for make in self.makers)


def parse(source: str) -> Template:
    """Parse a template. Single braces are plain text.

    Raises:
        ValueError: for a placeholder that is unknown, not closed, or has wrong arguments.
    """
    makers: list[Maker] = []
    for at, piece in enumerate(_PLACEHOLDER.split(source)):
        if at % 2:
            makers.append(_placeholder(piece))
        elif "{{" in piece:
            raise ValueError(f"template: }}}} is missing after {piece[piece.index('{{') :][:20]!r}")
        else:
            makers.append(_literal(piece))
    return Template(source, tuple(makers))


def _placeholder(expression: str) -> Maker:
    name, *arguments = expression.split(maxsplit=1) or [""]
    build = _PLACEHOLDERS.get(name)
    if build is None:
        near = get_close_matches(name, _PLACEHOLDERS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"use one of {', '.join(_PLACEHOLDERS)}"
        raise ValueError(f"template: unknown placeholder {{{{{expression}}}}}: {hint}")
    try:
        return build(arguments[0].strip() if arguments else "")
    except ValueError as error:
        raise ValueError(f"template: {{{{{expression}}}}}: {error}") from None


def _literal(text: str) -> Maker:
    return lambda _moment, _chance: text


def _counter(arguments: str) -> Maker:
    start = _whole(arguments or "0")
    return lambda moment, _chance: str(start + moment.number)


def _random(arguments: str) -> Maker:
    bounds = arguments.split()
    matches = [_NUMBER.fullmatch(bound) for bound in bounds]
    if len(bounds) != 2 or not all(matches):  # noqa: PLR2004 both ends
        raise ValueError("takes two numbers, such as {{random 1 100}}")
    decimals = max(len(match[1] or "") for match in matches if match)
    low, high = (_units(bound, decimals) for bound in bounds)
    if low > high:
        raise ValueError("the first number must not be greater than the second")
    return lambda _moment, chance: _decimal(chance.randint(low, high), decimals)


def _choice(arguments: str) -> Maker:
    if not arguments:
        raise ValueError("takes words, such as {{choice a,b,c}}")
    words: Sequence[str] = [word.strip() for word in arguments.split(",")]
    return lambda _moment, chance: chance.choice(words)


def _text(arguments: str) -> Maker:
    length = _whole(arguments)
    if length < 0:
        raise ValueError("takes a length, such as {{text 20}}")
    return lambda _moment, chance: "".join(chance.choices(_LETTERS, k=length))


def _plain(make: Maker) -> Callable[[str], Maker]:
    def build(arguments: str) -> Maker:
        if arguments:
            raise ValueError("takes no arguments")
        return make

    return build


def _now(moment: Moment, _chance: random.Random) -> str:
    utc = moment.now.astimezone(timezone.utc).replace(tzinfo=None)
    return utc.isoformat(timespec="milliseconds") + "Z"


def _epoch(moment: Moment, _chance: random.Random) -> str:
    return str(int(moment.now.timestamp() * 1000))


def _uuid(_moment: Moment, chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


_PLACEHOLDERS: Mapping[str, Callable[[str], Maker]] = {
    "counter": _counter,
    "now": _plain(_now),
    "epoch": _plain(_epoch),
    "key": _plain(lambda moment, _chance: moment.key),
    "random": _random,
    "choice": _choice,
    "text": _text,
    "uuid": _plain(_uuid),
}


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a whole number") from None


def _units(number: str, decimals: int) -> int:
    """A decimal number in units of its last decimal: 1.5 with two decimals is 150."""
    whole, _, rest = number.partition(".")
    return int(whole + rest.ljust(decimals, "0"))


def _decimal(units: int, decimals: int) -> str:
    if decimals == 0:
        return str(units)
    digits = str(abs(units)).rjust(decimals + 1, "0")
    return f"{'-' if units < 0 else ''}{digits[:-decimals]}.{digits[-decimals:]}"
