"""Texts as UTF-8."""

from __future__ import annotations


def utf8_size(text: str) -> int:
    """The number of bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())
