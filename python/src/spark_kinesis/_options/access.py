"""The fields that source and sink share: region, endpoint, credentials, role."""

from __future__ import annotations

from dataclasses import dataclass, fields

from .credentials import AssumeRole, Credentials, Profile, StaticCredentials
from .values import ABSENT, require


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StreamAccess:
    """Base of source and sink: how to reach Kinesis. Their docstrings describe the fields."""

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

    def __repr__(self) -> str:
        """Show the fields that were set, the stream first."""
        names = sorted((field.name for field in fields(self)), key=_is_not_stream)
        given = {name: getattr(self, name) for name in names}
        shown = (f"{name}={value!r}" for name, value in given.items() if value is not None)
        return f"{type(self).__name__}({', '.join(shown)})"

    def _access_options(self) -> dict[str, str | None]:
        address = {"region": self.region, "endpoint": self.endpoint}
        keys = {} if self.credentials is None else self.credentials.options()
        role = {} if self.role is None else self.role.options()
        return {**address, **keys, **role}


def _is_not_stream(name: str) -> bool:
    return not name.startswith("stream_")
