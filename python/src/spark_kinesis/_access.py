"""What the source and the sink have in common: which stream, where, and who asks."""

from __future__ import annotations

from dataclasses import dataclass

from ._credentials import AssumeRole, Credentials, Profile, StaticCredentials
from ._values import ABSENT, require


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamAccess:
    """A stream and how to reach it; see the two classes that are one."""

    stream_name: str | None = None
    stream_arn: str | None = None
    region: str | None = None
    endpoint: str | None = None
    credentials: Credentials | None = None
    role: AssumeRole | None = None

    def __post_init__(self) -> None:
        """Check types, and that exactly one stream is named."""
        for name in ("stream_name", "stream_arn", "region", "endpoint"):
            require(name, getattr(self, name), str, ABSENT)
        require("credentials", self.credentials, StaticCredentials, Profile, ABSENT)
        require("role", self.role, AssumeRole, ABSENT)
        if (self.stream_name is None) == (self.stream_arn is None):
            given = "neither" if self.stream_name is None else "both"
            raise ValueError(f"give exactly one of stream_name and stream_arn, not {given}")

    def _access_options(self) -> dict[str, str | None]:
        named = {
            "streamName": self.stream_name,
            "streamArn": self.stream_arn,
            "region": self.region,
            "endpoint": self.endpoint,
        }
        who = {} if self.credentials is None else self.credentials.options()
        role = {} if self.role is None else self.role.options()
        return {**named, **who, **role}
