"""As whom and where the examination calls AWS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from spark_kinesis._boto import CallSettings, client, is_local, session
from spark_kinesis.tools.facts.losses import ServiceClock

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

_USER = "spark-kinesis doctor"
_ATTEMPTS, _SECONDS = 3, 10.0
_ARN_PARTS = 6
_AWS_DOMAINS = (
    ".amazonaws.com",
    ".amazonaws.com.cn",
    ".api.aws",
    ".api.amazonwebservices.com.cn",
    ".amazonaws.eu",
    ".api.amazonwebservices.eu",
)


@dataclass(frozen=True, kw_only=True)
class Access:
    """As whom and where the examination calls AWS.

    Attributes:
        endpoint: URL of Kinesis; default: that of AWS.
        region: AWS region; default: from the AWS SDK.
        profile: profile of the AWS configuration files.
        storage: options of the store of a checkpoint.
        settings: role, proxy and certificates.
        clock: learns from every answer of Kinesis.
    """

    endpoint: str | None = None
    region: str | None = None
    profile: str | None = None
    storage: Mapping[str, str] = field(default_factory=dict, repr=False)
    settings: CallSettings = field(default_factory=CallSettings)
    clock: ServiceClock = field(default_factory=ServiceClock)

    def kinesis(self, stream: str | None = None, attempts: int = _ATTEMPTS) -> KinesisClient:
        """A client of Kinesis.

        Args:
            stream: name or ARN of the stream to call it for. An ARN contains the region.
            attempts: how often it makes a call that fails for a while.
        """
        found: KinesisClient = self._client("kinesis", self.endpoint, region_of(stream), attempts)
        self.clock.follow(found)
        return found

    def service(self, name: str, stream: str | None = None) -> Any:
        """A client of another service, in the region of a stream."""
        return self._client(name, None, region_of(stream), _ATTEMPTS)

    @property
    def is_aws(self) -> bool:
        """Whether Kinesis is that of AWS, so that other services know the same account."""
        if self.endpoint is None:
            return True
        return (urlsplit(self.endpoint).hostname or "").endswith(_AWS_DOMAINS)

    @property
    def is_local(self) -> bool:
        """Whether Kinesis is on this machine."""
        return is_local(self.endpoint)

    def session(self) -> Any:
        """A session of boto3, whose credentials the clients use.

        Raises:
            MissingPackageError: if boto3 is not installed.
            SparkKinesisError: if the profile is unknown.
        """
        return session(_USER, self.endpoint, self.region, self.profile, settings=self.settings)

    def _client(self, service: str, endpoint: str | None, region: str | None, attempts: int) -> Any:
        place = region or self.region
        return client(
            _USER,
            service,
            endpoint,
            place,
            self.profile,
            attempts=attempts,
            timeout=_SECONDS,
            settings=self.settings,
        )


def region_of(stream: str | None) -> str | None:
    """The region in an ARN. ``None`` for a name."""
    return _part(stream, 3)


def account_of(arn: str | None) -> str | None:
    """The account in an ARN. ``None`` for a name."""
    return _part(arn, 4)


def _part(arn: str | None, index: int) -> str | None:
    parts = (arn or "").split(":", _ARN_PARTS - 1)
    return parts[index] if len(parts) == _ARN_PARTS and parts[0] == "arn" else None
