"""The fields of a protobuf message, as far as aggregated records need them.

Source: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from collections.abc import Iterator

VARINT, EIGHT_BYTES, SPAN, GROUP, GROUP_END, FOUR_BYTES = range(6)
_TYPE_BITS = 3
_LONGEST_SHIFT = 63
_DEPTH = 100
_BITS_64 = (1 << 64) - 1


class MalformedError(ValueError):
    """The bytes are not a protobuf message."""


def fields(message: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """The fields of a message: number, type, and a number or the bytes of a span.

    Fields of other types are skipped.

    Raises:
        MalformedError: when it reaches a part that is not a field.
    """
    at = 0
    while at < len(message):
        number, kind, at = _tag(message, at)
        if kind == VARINT:
            value, at = _varint(message, at)
            yield number, kind, value
        elif kind == SPAN:
            begin, at = _span(message, at)
            yield number, kind, message[begin:at]
        else:
            at = _skip(message, number, kind, at, _DEPTH)


def _tag(message: bytes, at: int) -> tuple[int, int, int]:
    read, at = _varint(message, at)
    number, kind = read >> _TYPE_BITS, read & 7
    if not 0 < number < 1 << 29:
        raise MalformedError(f"field {number} at byte {at}")
    return number, kind, at


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if shift > _LONGEST_SHIFT or at >= len(message):
            raise MalformedError(f"a number ends at byte {at}")
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004 the highest bit says that a byte follows
            return value & _BITS_64, at
        shift += 7


def _span(message: bytes, at: int) -> tuple[int, int]:
    length, at = _varint(message, at)
    if length > len(message) - at:
        raise MalformedError(f"a span of {length} bytes begins at byte {at}")
    return at, at + length


def _skip(message: bytes, number: int, kind: int, at: int, depth: int) -> int:
    """The end of a field."""
    if kind == VARINT:
        return _varint(message, at)[1]
    if kind == SPAN:
        return _span(message, at)[1]
    if kind in (EIGHT_BYTES, FOUR_BYTES):
        end = at + (8 if kind == EIGHT_BYTES else 4)
        if end > len(message):
            raise MalformedError(f"a field is cut at byte {at}")
        return end
    if kind != GROUP or depth == 0:
        raise MalformedError(f"type {kind} at byte {at}")
    while True:
        inner, kind, at = _tag(message, at)
        if kind == GROUP_END and inner == number:
            return at
        at = _skip(message, inner, kind, at, depth - 1)
