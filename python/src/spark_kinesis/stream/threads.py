"""Asks about several shards at once. Each shard has a quota of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")
Advance = Callable[[int, int], None]
_THREADS = 10  # the number of connections of a boto3 client


def ignore(done: int, total: int) -> None:
    """Show no progress."""


def ask_each(
    ask: Callable[[Item], Found], items: Sequence[Item], advance: Advance = ignore
) -> list[Found]:
    """Call a function for each item, ten at once.

    Args:
        ask: the function. Its first error ends the others that have not begun.
        items: its arguments.
        advance: called with the number of items that are done, and with that of all items.

    Returns:
        The results, in the order of the items.
    """
    found: list[Found] = []
    advance(0, len(items))
    with ThreadPoolExecutor(_THREADS) as threads:
        asking = [threads.submit(ask, it) for it in items]
        try:
            for each in asking:
                found.append(each.result())
                advance(len(found), len(items))
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)  # Ctrl-C ends within seconds
            raise
    return found
