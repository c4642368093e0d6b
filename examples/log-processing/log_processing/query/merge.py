"""The items of several buckets as one sequence in the order of time."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Callable, Optional

TableItem = Mapping[str, Any]


@dataclass(frozen=True)
class Page:
    """A part of a bucket.

    Attributes:
        items: in the order of their sort keys.
        last_key: the key after which the next page begins. Without it, this page is the last.
    """

    items: Sequence[TableItem]
    last_key: TableItem | None = None


# Reads the page after a key, or the first page.
Fetch = Callable[[Optional[TableItem]], Page]


def read_bucket(fetch: Fetch, executor: Executor, *, ahead: bool) -> Iterator[TableItem]:
    """All items of one bucket, page by page.

    The first page is requested at once, so that the pages of several buckets are on their way
    together.

    Args:
        fetch: reads one page.
        executor: runs ``fetch``.
        ahead: if true, the next page is requested while the items of a page are used. Otherwise,
            it is requested when it is needed.
    """
    first = executor.submit(fetch, None)

    def items() -> Iterator[TableItem]:
        page = first.result()
        while page.last_key is not None:
            following = executor.submit(fetch, page.last_key) if ahead else None
            yield from page.items
            page = fetch(page.last_key) if following is None else following.result()
        yield from page.items

    return items()


def sort_key(item: TableItem) -> str:
    """The sort key of an item, which begins with the time of the event."""
    key: str = item["sk"]["S"]
    return key


def merge_buckets(
    buckets: Iterable[Iterator[TableItem]], *, newest_first: bool
) -> Iterator[TableItem]:
    """The items of sorted buckets as one sorted sequence. It takes no item before it is needed."""
    return heapq.merge(*buckets, key=sort_key, reverse=newest_first)
