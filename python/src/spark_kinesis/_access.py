"""What the source and the sink have in common: where, and who asks."""

from __future__ import annotations

from dataclasses import dataclass

from ._credentials import AssumeRole, Credentials, Profile, StaticCredentials
from ._values import ABSENT, require


def require_one(stream_name: object, stream_arn: object) -> None:
    """Refuse streams named in two ways, or in none.

    Raises:
        ValueError: saying which.
    """
    if (stream_name is None) == (stream_arn is None):
        given = "neither" if stream_name is None else "both"
        raise ValueError(f"give exactly one of stream_name and stream_arn, not {given}")


def require_at_most_one(stream_name: object, stream_arn: object) -> None:
    """Refuse a stream named in two ways; one in none may be a row's own affair.

    Raises:
        ValueError: where both are given.
    """
    if stream_name is not None and stream_arn is not None:
        raise ValueError("give one of stream_name and stream_arn, not both")


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamAccess:
    """How to reach streams; see the two classes that are one."""

    region: str | None = None
    endpoint: str | None = None
    credentials: Credentials | None = None
    role: AssumeRole | None = None

    def __post_init__(self) -> None:
        """Check types."""
        for name in ("region", "endpoint"):
            require(name, getattr(self, name), str, ABSENT)
        require("credentials", self.credentials, StaticCredentials, Profile, ABSENT)
        require("role", self.role, AssumeRole, ABSENT)

    def _access_options(self) -> dict[str, str | None]:
        where = {"region": self.region, "endpoint": self.endpoint}
        who = {} if self.credentials is None else self.credentials.options()
        role = {} if self.role is None else self.role.options()
        return {**where, **who, **role}
