"""Who asks Kinesis. No ``repr`` or ``str`` of these shows a secret."""

from __future__ import annotations

from dataclasses import dataclass, field

from ._mapping import MASK
from ._values import ABSENT, require


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StaticCredentials:
    """Keys given by hand. Prefer a profile or the default chain outside of tests.

    Attributes:
        access_key_id: the key's public half.
        secret_access_key: the key's secret half.
        session_token: for temporary keys only.
    """

    access_key_id: str
    secret_access_key: str
    session_token: str | None = None

    def __post_init__(self) -> None:
        """Check types; messages name the field and never its value."""
        require("access_key_id", self.access_key_id, str, secret=True)
        require("secret_access_key", self.secret_access_key, str, secret=True)
        require("session_token", self.session_token, str, ABSENT, secret=True)

    def __repr__(self) -> str:
        """Valid to paste, useless to steal."""
        token = "" if self.session_token is None else f", session_token={MASK!r}"
        return f"StaticCredentials(access_key_id={MASK!r}, secret_access_key={MASK!r}{token})"

    def options(self) -> dict[str, str | None]:
        """The Spark options of these keys. Secrets in the clear: do not print it."""
        return {
            "awsAccessKeyId": self.access_key_id,
            "awsSecretAccessKey": self.secret_access_key,
            "awsSessionToken": self.session_token,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """A named profile of the AWS configuration files, read where Spark's JVMs run.

    Attributes:
        name: such as ``"default"``.
    """

    name: str

    def __post_init__(self) -> None:
        """Check types."""
        require("name", self.name, str)

    def options(self) -> dict[str, str | None]:
        """The Spark options of this profile."""
        return {"profile": self.name}


@dataclass(frozen=True, kw_only=True, slots=True)
class AssumeRole:
    """A role assumed with the first credentials and renewed before it expires.

    Attributes:
        arn: the role.
        session_name: how the role's owner sees us; default ``spark-kinesis``.
        external_id: as the role's owner asks for it. AWS does not call it a secret, and
            Spark's `explain` shows it; we print it nowhere.
        sts_endpoint: URL in place of the region's own.
    """

    arn: str
    session_name: str | None = None
    external_id: str | None = field(default=None, repr=False)
    sts_endpoint: str | None = None

    def __post_init__(self) -> None:
        """Check types."""
        require("arn", self.arn, str)
        require("session_name", self.session_name, str, ABSENT)
        require("external_id", self.external_id, str, ABSENT, secret=True)
        require("sts_endpoint", self.sts_endpoint, str, ABSENT)

    def options(self) -> dict[str, str | None]:
        """The Spark options of this role. A secret in the clear: do not print it."""
        return {
            "roleArn": self.arn,
            "roleSessionName": self.session_name,
            "roleExternalId": self.external_id,
            "stsEndpoint": self.sts_endpoint,
        }


Credentials = StaticCredentials | Profile
