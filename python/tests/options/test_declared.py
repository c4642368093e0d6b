"""The fields against the declarations of the options in the connector."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

import pytest

from spark_kinesis import (
    AssumeRole,
    CredentialsProvider,
    EnhancedFanOut,
    KinesisSink,
    KinesisSource,
    Profile,
    Proxy,
    StaticCredentials,
    Timeouts,
)
from spark_kinesis._options.access import StreamAccess
from spark_kinesis._options.declared import (
    _SECRETS,
    Declared,
    Option,
    declared,
    option,
)
from spark_kinesis._source import replay_options

ROOT = Path(__file__).resolve().parents[3]
GOLDEN: dict[str, list[dict[str, Any]]] = json.loads(
    (ROOT / "tests" / "golden" / "options.json").read_text(encoding="utf-8")
)
OWNERS: dict[str, tuple[type, ...]] = {
    "connection": (
        StreamAccess,
        StaticCredentials,
        Profile,
        CredentialsProvider,
        AssumeRole,
        Proxy,
        Timeouts,
    ),
    "source": (KinesisSource,),
    "sink": (KinesisSink,),
}
# Several fields, or arguments, that have another form than the option.
BY_HAND = {
    "connection": {"streamName", "streamArn"},
    "source": {
        "startingPosition",
        "endingPosition",
        *EnhancedFanOut(name="reports").options(),
        *EnhancedFanOut(arn="arn").options(),
        *replay_options("c", 1, "0"),
    },
    "sink": set[str](),
}


KINDS: dict[str, type] = {
    "text": str,
    "url": str,
    "word": str,
    "boolean": bool,
    "number": int,
    "size": int,
    "duration": timedelta,
}


def fields(group: str) -> dict[str, tuple[str, Option]]:
    """The declared options of a group, with their fields."""
    own = {it.name: (field, it) for kind in OWNERS[group] for field, it in declared(kind).items()}
    shared = set() if group == "connection" else {*fields("connection"), *BY_HAND["connection"]}
    return {name: it for name, it in own.items() if name not in shared}


@pytest.mark.parametrize("group", GOLDEN)
def test_the_fields_are_the_options_of_the_connector(group: str) -> None:
    options = {option["name"]: option for option in GOLDEN[group]}
    assert sorted([*fields(group), *BY_HAND[group]]) == sorted(options)
    for name, (_, mine) in fields(group).items():
        theirs = options[name]
        assert mine.secret == theirs.get("secret", False), name
        assert KINDS[theirs["type"]] in mine.types, name
        assert mine.is_word == (theirs["type"] == "word"), name


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("aggregation", "aggregation"),
        ("delivery_guarantee", "deliveryGuarantee"),
        ("ordering", "ordering"),
        ("on_delivery_timeout", "onDeliveryTimeout"),
    ],
)
def test_the_words_of_a_field_are_those_of_the_connector(field: str, name: str) -> None:
    union = get_type_hints(KinesisSink, localns={"timedelta": timedelta})[field]
    literal, _ = get_args(union)
    words = [declared(KinesisSink)[field].text(field, it) for it in get_args(literal)]
    assert words == next(it["words"] for it in GOLDEN["sink"] if it["name"] == name)


@pytest.mark.parametrize("kind", [KinesisSource, KinesisSink])
def test_a_field_has_the_name_of_its_option_in_snake_case(kind: type) -> None:
    for field, it in declared(kind).items():
        assert field == re.sub("([A-Z])", lambda letter: f"_{letter[1].lower()}", it.name)


def test_a_mapping_of_options_masks_all_secrets() -> None:
    secrets = {it["name"] for group in GOLDEN.values() for it in group if it.get("secret")}
    assert secrets == _SECRETS


def test_a_declared_field_is_checked_shown_and_passed_on() -> None:
    @dataclass(frozen=True, kw_only=True, slots=True, repr=False)
    class Paused(Declared):
        max_pause: timedelta | Literal["none"] | None = option("maxPause", timedelta, str)
        pause_kind: str | None = option("pauseKind", str, is_word=True)

    paused = Paused(max_pause=timedelta(seconds=1), pause_kind="short_one")
    assert paused.options() == {"maxPause": "1000ms", "pauseKind": "shortOne"}
    assert Paused().options() == {}
    assert repr(Paused(pause_kind="long_one")) == "Paused(pause_kind='long_one')"
    with pytest.raises(TypeError, match="max_pause must be timedelta or str or None, not 1"):
        Paused(max_pause=1)  # type: ignore[arg-type]


def described(kind: type) -> dict[str, str]:
    """The description of each field in the docstring of a class."""
    # From 3.13 on, Python itself takes the indentation of the class away.
    attributes = inspect.cleandoc(kind.__doc__ or "").split("Attributes:")[1].split("Raises:")[0]
    entries = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", attributes, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


def in_words(kind: str, default: str) -> str:
    """A pattern for a default of the connector in a docstring."""
    digits, unit = re.fullmatch(r"(\d*)(.*)", default).groups()  # type: ignore[union-attr]
    units = {
        "duration": {"ms": "ms", "s": "s", "m": "min(utes)?"},
        "size": {"k": "KiB", "m": "MiB", "g": "GiB"},
    }
    if kind in units:
        return f"{digits} {units[kind][unit]}"
    snake = re.sub("([A-Z])", lambda letter: f"_{letter[1].lower()}", default)
    return {"false": "(false|no)"}.get(default, re.escape(snake))


@pytest.mark.parametrize(
    ("kind", "group"),
    [(KinesisSource, "source"), (KinesisSink, "sink"), (Timeouts, "connection")],
)
def test_the_docstring_has_each_field_and_its_default(kind: type, group: str) -> None:
    golden = {it["name"]: it for it in GOLDEN[group]}
    texts_of = described(kind)
    for field, it in declared(kind).items():
        default = golden.get(it.name, {}).get("default")
        assert field in texts_of
        if default is not None:
            said = texts_of[field].lower().rpartition("default")[2]
            assert re.search(in_words(golden[it.name]["type"], default).lower(), said), field
