"""A local Kinesis that runs already, with everything that a test may do with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ._admin import LocalAdmin
from ._calls import records as record_calls
from ._calls import streams as stream_calls

if TYPE_CHECKING:
    from ._calls.records import NewRecord, Record
    from ._calls.shards import Shard


class LocalEndpoint(LocalAdmin):
    """A local Kinesis that runs already, such as one started from a shell.

    Every method that changes a stream returns when the stream is active again. A simulated clock
    does not move by itself, so these methods move it forward, 0.1 s at a time, until the change is
    complete. Every method raises ``KinesisRefusedError`` if the server refuses the call, with the
    service's name of the error in ``code``, and ``NoAnswerError`` if no answer comes within 30 s.
    All streams are in us-east-1.

    Args:
        endpoint: URL, such as ``http://127.0.0.1:4567``.
    """

    def __init__(self, endpoint: str) -> None:
        """Does not connect yet."""
        super().__init__(endpoint)

    @property
    def streams(self) -> list[str]:
        """The names of all streams."""
        return stream_calls.names(self._api)

    def create(self, name: str, shards: int = 1) -> None:
        """Create a stream."""
        stream_calls.create(self._api, name, shards)

    def delete(self, name: str) -> None:
        """Delete a stream, and return when it no longer exists."""
        stream_calls.delete(self._api, name)

    def shards(self, stream: str) -> list[Shard]:
        """The shards of a stream, open and closed, by id."""
        return sorted(stream_calls.active(self._api, stream), key=lambda shard: shard.id)

    def split(
        self, stream: str, shard: str | None = None, at: int | None = None
    ) -> tuple[str, str]:
        """Split a shard in two.

        Args:
            stream: name of the stream.
            shard: id such as ``shardId-000000000000``; default: the open shard of the hash key
                ``at``, or the widest open shard.
            at: lowest hash key of the upper new shard; default: the middle.

        Returns:
            The ids of the two new shards, the lower one first.

        Raises:
            ValueError: if no listed open shard matches the arguments.
        """
        return stream_calls.split(self._api, stream, shard, at)

    def merge(self, stream: str, shard: str | None = None, adjacent: str | None = None) -> str:
        """Merge two shards into one.

        Args:
            stream: name of the stream.
            shard: id of one of the two; default: the narrowest pair of neighbors.
            adjacent: id of the other; default: the next shard above, or else below.

        Returns:
            The id of the new shard.

        Raises:
            ValueError: if no two listed open neighbors match the arguments.
        """
        return stream_calls.merge(self._api, stream, shard, adjacent)

    def scale(self, stream: str, shards: int) -> list[str]:
        """Change the number of open shards: to half to twice as many, as on AWS.

        Returns when the new shards are listed, which takes as long as the list lag.

        Returns:
            The ids of the open shards, by hash key.

        Raises:
            LocalKinesisError: if they are not listed after a minute.
        """
        return stream_calls.scale(self._api, stream, shards)

    def put(self, stream: str, records: Iterable[NewRecord]) -> list[str]:
        """Write records. Throttled records are written again, for a minute at most.

        Args:
            stream: name of the stream.
            records: data, or pairs of partition key and data. Text is written as UTF-8. Data
                without a key get their index as the key: ``"0"``, ``"1"``, and so on.

        Returns:
            The shard id of each record. The records of a key are in order, except records that
            had to be written again.

        Raises:
            LocalKinesisError: if some records were still refused after a minute.
        """
        return record_calls.put(self._api, stream, records)

    def records(self, stream: str) -> list[Record]:
        """All records of a stream: parents before children, each shard in its order."""
        return record_calls.read(self._api, stream)
