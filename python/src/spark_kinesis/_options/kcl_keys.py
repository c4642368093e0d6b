"""``FromKclTable`` as a dictionary, such as ``{"kclTable": "orders-app"}``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from difflib import get_close_matches
from typing import Any, TypedDict

from spark_kinesis._times import from_iso

from .kcl import FromKclTable
from .positions import AtTimestamp, Latest, TrimHorizon


class _Table(TypedDict):
    kclTable: str


class KclTableKeys(_Table, total=False):
    """The fields of ``FromKclTable``. Times may be text in ISO 8601, as in JSON."""

    at: datetime | str
    others: Latest | TrimHorizon | AtTimestamp | str
    ignoreCreationTime: bool
    dynamodbEndpoint: str
    capacityPerSecond: float


_FIELDS = {
    "kclTable": "table",
    "at": "at",
    "others": "others",
    "ignoreCreationTime": "ignore_creation_time",
    "dynamodbEndpoint": "dynamodb_endpoint",
    "capacityPerSecond": "capacity_per_second",
}


def from_kcl_table(name: str, given: Mapping[Any, Any]) -> FromKclTable:
    """The position that a dictionary describes.

    Args:
        name: the field that has the dictionary, for errors.
        given: the dictionary.

    Raises:
        TypeError: if a value has the wrong type.
        ValueError: if ``kclTable`` is missing, a key is unknown, or a value is impossible.
    """
    if "kclTable" not in given:
        raise ValueError(
            f"{name} is a dictionary without the key 'kclTable'. Write the name of the lease table "
            "of a KCL application, such as {'kclTable': 'orders-app'}. For positions by stream or "
            "shard, use ByStream or ByShard."
        )
    for key in given:
        if key not in _FIELDS:
            near = get_close_matches(str(key), _FIELDS, 1)
            hint = f". Did you mean {near[0]!r}?" if near else f": expected {', '.join(_FIELDS)}"
            raise ValueError(f"{name} has the unknown key {key!r}{hint}")
    try:
        fields = {_FIELDS[key]: _value(key, value) for key, value in given.items()}
        return FromKclTable(**fields)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from error


def _value(key: str, value: Any) -> Any:
    """A time from its text. Other values are as they are."""
    if not isinstance(value, str) or key not in ("at", "others"):
        return value
    if key == "others" and not value[:1].isdigit():  # a word
        return value
    try:
        time = from_iso(value)
    except ValueError:
        raise ValueError(
            f"{key} is {value!r}: expected a time with a time zone such as 2026-11-20T08:00Z"
        ) from None
    return time if key == "at" else AtTimestamp(time)
