"""Fields of a dataclass that are options of the command line and environment variables."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping
from typing import Any, Callable

_MISSING = object()
_WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_KINDS: dict[str, Callable[[str], Any]] = {"int": int, "float": float}  # by annotation


def option(text: str, *, default: Any = _MISSING) -> Any:
    """A field of a dataclass that is an option.

    Args:
        text: what the option means, for ``--help``.
        default: value if the option is absent. Without it, the option is required.
    """
    if default is _MISSING:
        return dataclasses.field(metadata={"help": text})
    return dataclasses.field(default=default, metadata={"help": text})


def add_options(
    parser: argparse.ArgumentParser, settings: type, environment: Mapping[str, str]
) -> None:
    """Add the options of a dataclass to a parser, whose result then has all its fields.

    Args:
        parser: parser of the command line.
        settings: a dataclass whose fields are options.
        environment: environment variables. ``LOG_SOME_NAME`` is the default of ``--some-name``.
    """
    for field in dataclasses.fields(settings):
        name = "--" + field.name.replace("_", "-")
        variable = "LOG_" + field.name.upper()
        text = f"{field.metadata['help']} [{variable}]"
        given = environment.get(variable)
        has_default = given is not None or field.default is not dataclasses.MISSING
        default = field.default if given is None and has_default else given
        if field.type == "bool":
            flag = default if isinstance(default, bool) else _truth(parser, variable, str(default))
            parser.add_argument(name, action="store_true", default=flag, help=text)
        else:
            kind = _KINDS.get(str(field.type), str)
            required = not has_default
            parser.add_argument(name, type=kind, default=default, required=required, help=text)


def _truth(parser: argparse.ArgumentParser, variable: str, word: str) -> bool:
    if word.lower() not in _WORDS:
        parser.error(f"{variable} must be true or false, not '{word}'")
    return _WORDS[word.lower()]
