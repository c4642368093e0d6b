"""How source and sink name streams: one, or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from .values import ABSENT, require

if TYPE_CHECKING:
    from collections.abc import Sequence


def require_one(stream_name: object, stream_arn: object) -> None:
    """Require exactly one of the two ways to name streams.

    Raises:
        ValueError: if both are given, or neither.
    """
    if (stream_name is None) == (stream_arn is None):
        given = "neither" if stream_name is None else "both"
        raise ValueError(f"give exactly one of stream_name and stream_arn, not {given}")


def require_at_most_one(stream_name: object, stream_arn: object) -> None:
    """Allow at most one of the two ways to name a stream.

    Raises:
        ValueError: if both are given.
    """
    if stream_name is not None and stream_arn is not None:
        raise ValueError("give one of stream_name and stream_arn, not both")


def require_stream(name: str, given: object, *, several: str) -> None:
    """Require the name or ARN of one stream.

    Args:
        name: the field, for the message.
        given: the value.
        several: what to do instead of joining names by a comma, for the message.

    Raises:
        TypeError: if it is not a string.
        ValueError: if it is blank or contains a comma.
    """
    require(name, given, str)
    if not str(given).strip():
        raise ValueError(f"{name} is blank: give the name of a stream")
    if "," in str(given):
        raise ValueError(f"{name} is {given!r}, which contains a comma: {several}")


def require_streams(name: str, given: object) -> str | tuple[str, ...] | None:
    """Return one stream as it is, and several as a tuple.

    Args:
        name: the field, for the message.
        given: the value.

    Raises:
        TypeError, ValueError: for anything else than names.
    """
    if given is None or isinstance(given, str):
        if given is not None:
            require_stream(name, given, several="pass a list to read several streams")
        return given
    require(name, given, list, tuple, str, ABSENT)
    streams = tuple(cast("Sequence[str]", given))
    for stream in streams:
        require_stream(f"a stream of {name}", stream, several="make it several entries of the list")
    if not streams:
        raise ValueError(f"{name} is an empty list: name at least one stream")
    return streams


def streams_option(streams: str | Sequence[str] | None) -> str | None:
    """Return the value of the option for these streams."""
    return streams if streams is None or isinstance(streams, str) else ",".join(streams)
