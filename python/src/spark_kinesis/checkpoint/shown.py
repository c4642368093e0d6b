"""Texts with URLs, without the keys that pyarrow accepts in a URL."""

from __future__ import annotations

import re

# A secret may contain a slash. After a colon, digits alone are a port.
_KEYS = re.compile(r"://(?:[^/\s]*@|[^/\s:]+:(?!\d+/)[^\s@]*@)")


def shown(text: str) -> str:
    """A text for people and logs, with ``***`` in place of the keys in its URLs.

    Args:
        text: a path, a URL such as ``s3://KEY:SECRET@bucket/orders``, or a message with URLs.
    """
    return _KEYS.sub("://***@", text)
