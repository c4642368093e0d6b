"""Mappings that cannot change: fields of frozen classes, and Spark options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar, final

K = TypeVar("K")
V_co = TypeVar("V_co", covariant=True)

MASK = "***"
_SECRETS = frozenset(
    {
        "awsAccessKeyId",
        "awsSecretAccessKey",
        "awsSessionToken",
        "credentialsProviderSecret",
        "roleExternalId",
        "proxyPassword",
    }
)


class FrozenMapping(Mapping[K, V_co]):
    """A copy of a mapping that cannot change, and that is hashable if its values are."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[K, V_co]) -> None:
        """Copy the entries."""
        self._entries = dict(entries)

    def __getitem__(self, key: K) -> V_co:
        return self._entries[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __repr__(self) -> str:
        return repr(self._entries)


@final
class SparkOptions(FrozenMapping[str, str]):
    """Options for Spark's readers and writers. The values are complete; ``repr`` masks secrets."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Show every option, and ``'***'`` in place of a secret."""
        shown = {name: MASK if name in _SECRETS else self[name] for name in self}
        return f"SparkOptions({shown!r})"
