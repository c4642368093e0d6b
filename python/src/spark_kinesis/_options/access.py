"""The fields that source and sink share: region, endpoint, credentials, role, network."""

from __future__ import annotations

from dataclasses import dataclass, fields

from .credentials import AssumeRole, Credentials, CredentialsProvider, Profile, StaticCredentials
from .declared import check, string, switch, url
from .network import Proxy, Timeouts
from .values import ABSENT, require


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StreamAccess:
    """Base of source and sink: how to reach Kinesis. Their docstrings describe the fields."""

    region: str | None = string("region")
    endpoint: str | None = url("endpoint")
    credentials: Credentials | None = None
    role: AssumeRole | None = None
    proxy: Proxy | None = None
    ca_bundle: str | None = string("caBundle")
    allow_unencrypted_endpoint: bool | None = switch("allowUnencryptedEndpoint")
    use_fips_endpoint: bool | None = switch("useFipsEndpoint")
    use_dual_stack_endpoint: bool | None = switch("useDualStackEndpoint")
    timeouts: Timeouts | None = None

    def __post_init__(self) -> None:
        """Check types."""
        check(self)
        kinds = (StaticCredentials, Profile, CredentialsProvider, ABSENT)
        require("credentials", self.credentials, *kinds)
        require("role", self.role, AssumeRole, ABSENT)
        require("proxy", self.proxy, Proxy, ABSENT)
        require("timeouts", self.timeouts, Timeouts, ABSENT)

    def __repr__(self) -> str:
        """Show the fields that were set, the stream first."""
        names = sorted((field.name for field in fields(self)), key=_is_not_stream)
        given = {name: getattr(self, name) for name in names}
        shown = (f"{name}={value!r}" for name, value in given.items() if value is not None)
        return f"{type(self).__name__}({', '.join(shown)})"

    def _access_options(self) -> dict[str, str | None]:
        parts = (self.credentials, self.role, self.proxy, self.timeouts)
        return {name: it for part in parts if part for name, it in part.options().items()}


def _is_not_stream(name: str) -> bool:
    return not name.startswith("stream_")
