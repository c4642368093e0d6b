"""What is examined, as whom and where AWS is called, and what the checks have learned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from spark_kinesis._boto import is_local
from spark_kinesis.tools.facts.losses import ServiceClock

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient
    from pyspark.sql import SparkSession

    from spark_kinesis.tools.cli import Connection

    from .stream import Seen

_ATTEMPTS = 3
_ARN_PARTS = 6
_AWS_DOMAINS = (
    ".amazonaws.com",
    ".amazonaws.com.cn",
    ".api.aws",
    ".api.amazonwebservices.com.cn",
    ".amazonaws.eu",
    ".api.amazonwebservices.eu",
)


def _nothing(text: str) -> None:
    """Show no progress."""


@dataclass(kw_only=True)
class Setup:
    """What is examined, and what later checks need to know from earlier ones.

    Attributes:
        connection: as whom and where AWS is called. The check of the region sets its region.
        uses: what the query does with the stream: ``read``, ``write``, ``exactly-once``.
        say: shows how far a check is.
        clock: learns from every answer of Kinesis.
    """

    connection: Connection
    stream: str | None = None  # name or ARN of the stream
    checkpoint: str | None = None  # folder or URL of the query's checkpoint
    consumer: str | None = None  # name or ARN of the query's consumer
    uses: tuple[str, ...] = ("read",)
    may_probe: bool = False  # whether a shard may be read five times at once
    spark: SparkSession | None = None  # a session to look at; default: the active one
    say: Callable[[str], None] = _nothing
    clock: ServiceClock = field(default_factory=ServiceClock)
    identity: str | None = None  # ARN of the caller, as soon as it is known
    seen: Seen | None = None  # what Kinesis says about the stream, as soon as it is known

    def kinesis(self, stream: str | None = None, attempts: int = _ATTEMPTS) -> KinesisClient:
        """A client of Kinesis.

        Args:
            stream: name or ARN of the stream to call it for. An ARN contains the region.
            attempts: how often it makes a call that fails for a while; default: 3.
        """
        found = self._in_region_of(stream).kinesis(attempts=attempts)
        self.clock.follow(found)
        return found

    def service(self, name: str, stream: str | None = None) -> Any:
        """A client of another service, in the region of a stream."""
        return self._in_region_of(stream).service(name, attempts=_ATTEMPTS)

    @property
    def is_aws(self) -> bool:
        """Whether Kinesis is that of AWS, so that other services know the same account."""
        endpoint = self.connection.endpoint
        return endpoint is None or (urlsplit(endpoint).hostname or "").endswith(_AWS_DOMAINS)

    @property
    def is_local(self) -> bool:
        """Whether Kinesis is on this machine."""
        return is_local(self.connection.endpoint)

    def _in_region_of(self, stream: str | None) -> Connection:
        return replace(self.connection, region=region_of(stream) or self.connection.region)


def region_of(stream: str | None) -> str | None:
    """The region in an ARN. ``None`` for a name."""
    return _part(stream, 3)


def account_of(arn: str | None) -> str | None:
    """The account in an ARN. ``None`` for a name."""
    return _part(arn, 4)


def _part(arn: str | None, index: int) -> str | None:
    parts = (arn or "").split(":", _ARN_PARTS - 1)
    return parts[index] if len(parts) == _ARN_PARTS and parts[0] == "arn" else None
