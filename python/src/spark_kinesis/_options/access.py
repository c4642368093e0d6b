"""The fields that source and sink share: region, endpoint, credentials, role, network."""

from __future__ import annotations

from dataclasses import dataclass, fields

from .credentials import AssumeRole, Credentials, CredentialsProvider, Profile, StaticCredentials
from .network import Proxy, Timeouts
from .values import ABSENT, require, text


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StreamAccess:
    """Base of source and sink: how to reach Kinesis. Their docstrings describe the fields."""

    region: str | None = None
    endpoint: str | None = None
    credentials: Credentials | None = None
    role: AssumeRole | None = None
    proxy: Proxy | None = None
    ca_bundle: str | None = None
    allow_unencrypted_endpoint: bool | None = None
    use_fips_endpoint: bool | None = None
    use_dual_stack_endpoint: bool | None = None
    timeouts: Timeouts | None = None

    def __post_init__(self) -> None:
        """Check types."""
        for name in ("region", "endpoint", "ca_bundle"):
            require(name, getattr(self, name), str, ABSENT)
        kinds = (StaticCredentials, Profile, CredentialsProvider, ABSENT)
        require("credentials", self.credentials, *kinds)
        require("role", self.role, AssumeRole, ABSENT)
        require("proxy", self.proxy, Proxy, ABSENT)
        for name in ("allow_unencrypted_endpoint", "use_fips_endpoint", "use_dual_stack_endpoint"):
            require(name, getattr(self, name), bool, ABSENT)
        require("timeouts", self.timeouts, Timeouts, ABSENT)

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
        return {**address, **keys, **role, **self._network_options()}

    def _network_options(self) -> dict[str, str | None]:
        return {
            **({} if self.proxy is None else self.proxy.options()),
            "caBundle": self.ca_bundle,
            "allowUnencryptedEndpoint": text(self.allow_unencrypted_endpoint),
            "useFipsEndpoint": text(self.use_fips_endpoint),
            "useDualStackEndpoint": text(self.use_dual_stack_endpoint),
            **({} if self.timeouts is None else self.timeouts.options()),
        }


def _is_not_stream(name: str) -> bool:
    return not name.startswith("stream_")
