"""The shards of a stream by their descent, and what the query does with each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from spark_kinesis._offsets import Progress, ShardOffset

if TYPE_CHECKING:
    from .snapshot import ShardFacts


class State(Enum):
    """What the query does with a shard."""

    READING = "reading"
    WAITING = "waiting"  # for its parents
    LATER = "later"  # it is read after shards that are being read
    DONE = "done"  # it was read to its end, or is not needed
    UNKNOWN = "unknown"  # the position says nothing about it


@dataclass(frozen=True, kw_only=True)
class Node:
    """A shard in the tree."""

    shard: str  # ID
    depth: int  # 0 for a shard without listed parents, otherwise one more than its first parent
    parents: tuple[str, ...]  # listed parents. Two if it is the result of a merge.
    children: tuple[str, ...]  # listed shards that replaced it
    state: State  # what the query does with it
    is_open: bool | None  # whether it accepts records. ``None`` if unknown.


def tree(shards: Mapping[str, ShardFacts]) -> tuple[Node, ...]:
    """The shards of one stream. Each comes after its first parent, and is contained once."""
    parents = {name: tuple(sorted(set(it.parents) & set(shards))) for name, it in shards.items()}
    children: dict[str, list[str]] = {name: [] for name in shards}
    for name in sorted(shards):
        for parent in parents[name]:
            children[parent].append(name)
    states = _states(shards, parents, children)
    found: list[Node] = []
    rest = [(name, 0) for name in sorted(shards, reverse=True) if not parents[name]]
    while rest:
        name, depth = rest.pop()
        found.append(
            Node(
                shard=name,
                depth=depth,
                parents=parents[name],
                children=tuple(children[name]),
                state=states[name],
                is_open=shards[name].is_open,
            )
        )
        own = [child for child in children[name] if parents[child][0] == name]
        rest += [(child, depth + 1) for child in reversed(own)]
    return tuple(found)


def _states(
    shards: Mapping[str, ShardFacts],
    parents: Mapping[str, tuple[str, ...]],
    children: Mapping[str, list[str]],
) -> dict[str, State]:
    finished = {
        name
        for name, it in shards.items()
        if it.position is not None and it.position.progress is Progress.FINISHED
    }
    found = {
        name: State.DONE if name in finished else _in_offset(it.position, finished)
        for name, it in shards.items()
        if it.position is not None
    }
    active = set(found)
    later = _reached(active, children) - active
    done = _reached(active, parents) - active
    found |= dict.fromkeys(later, State.LATER)
    found |= dict.fromkeys(done, State.DONE)
    return {name: found.get(name, State.UNKNOWN) for name in shards}


def _in_offset(position: ShardOffset, finished: set[str]) -> State:
    """The next micro-batch reads a shard whose parents are finished, although it still waits."""
    return State.WAITING if set(position.waits_for) - finished else State.READING


def _reached(
    starts: set[str], following: Mapping[str, tuple[str, ...]] | Mapping[str, list[str]]
) -> set[str]:
    reached, rest = set(starts), list(starts)
    while rest:
        new = [it for it in following.get(rest.pop(), ()) if it not in reached]
        reached.update(new)
        rest += new
    return reached
