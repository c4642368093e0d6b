"""A local Kinesis that listens somewhere, and all that a test may want to do with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from . import _records, _streams
from ._admin import LocalAdmin

if TYPE_CHECKING:
    from ._records import NewRecord, Record
    from ._shards import Shard


class LocalEndpoint(LocalAdmin):
    """A local Kinesis that runs already, such as one started from a shell.

    Every method that changes a stream returns when the stream is active again. Every method raises
    ``KinesisRefusedError`` if the server refuses the call, with the service's name of the error in
    ``code``, and ``NoAnswerError`` if no answer comes within 30 s. All streams are in us-east-1.

    Args:
        endpoint: such as ``http://127.0.0.1:4567``.
    """

    def __init__(self, endpoint: str) -> None:
        """Connect to nothing yet."""
        super().__init__(endpoint)

    @property
    def streams(self) -> list[str]:
        """The names of all streams."""
        return _streams.names(self._wire)

    def create(self, name: str, shards: int = 1) -> None:
        """Make a stream."""
        _streams.create(self._wire, name, shards)

    def delete(self, name: str) -> None:
        """Delete a stream, and return when it is gone."""
        _streams.delete(self._wire, name)

    def shards(self, stream: str) -> list[Shard]:
        """The shards of a stream, open and closed, by number."""
        return sorted(_streams.settled(self._wire, stream), key=lambda shard: shard.id)

    def split(
        self, stream: str, shard: str | None = None, at: int | None = None
    ) -> tuple[str, str]:
        """Split a shard in two.

        Args:
            stream: its name.
            shard: such as ``shardId-000000000000``; default: the open one that holds ``at``, or
                else the widest.
            at: the lowest hash key of the upper of the two; default: the middle.

        Returns:
            The ids of the two, lower hash keys first.

        Raises:
            ValueError: when no open shard that is listed fits what was said.
        """
        return _streams.split(self._wire, stream, shard, at)

    def merge(self, stream: str, shard: str | None = None, adjacent: str | None = None) -> str:
        """Merge two shards into one.

        Args:
            stream: its name.
            shard: one of the two; default: the narrowest pair of neighbours.
            adjacent: the other; default: the next shard above, or else below.

        Returns:
            The id of the one.

        Raises:
            ValueError: when no two open neighbours that are listed fit what was said.
        """
        return _streams.merge(self._wire, stream, shard, adjacent)

    def scale(self, stream: str, shards: int) -> list[str]:
        """Change the number of open shards: to half to twice as many, as on AWS.

        Waits until they are listed, for as long as the list lag is, at most a minute: on a
        simulated clock a list lag does not end by itself, and this fails.

        Returns:
            The ids of the open ones, by hash key.
        """
        return _streams.scale(self._wire, stream, shards)

    def put(self, stream: str, records: Iterable[NewRecord]) -> list[str]:
        """Write records, and write again what was throttled, for at most a minute.

        Args:
            stream: its name.
            records: data, or pairs of partition key and data; text is written as UTF-8. Data
                alone gets its place among the records as key: ``"0"``, ``"1"``, ...

        Returns:
            The shard id of each record. Those of a key keep their order unless one of them had
            to be written again.

        Raises:
            LocalKinesisError: when some were still refused after a minute.
        """
        return _records.put(self._wire, stream, records)

    def records(self, stream: str) -> list[Record]:
        """Everything in a stream: parents before children, each shard in its order."""
        return _records.read(self._wire, stream)
