"""Credentials for calls to Kinesis. No ``repr`` and no ``str`` of them shows a secret."""

from __future__ import annotations

from dataclasses import dataclass, field

from .mapping import MASK
from .values import ABSENT, require


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StaticCredentials:
    """Access keys. Outside of tests, prefer a profile or the default chain of the AWS SDK.

    Attributes:
        access_key_id: id of the access key.
        secret_access_key: secret of the access key.
        session_token: token of temporary keys; default: none.
    """

    access_key_id: str
    secret_access_key: str
    session_token: str | None = None

    def __post_init__(self) -> None:
        """Check types. The messages name the field and never its value."""
        require("access_key_id", self.access_key_id, str, secret=True)
        require("secret_access_key", self.secret_access_key, str, secret=True)
        require("session_token", self.session_token, str, ABSENT, secret=True)

    def __repr__(self) -> str:
        """Show which fields are set, with their values masked."""
        token = "" if self.session_token is None else f", session_token={MASK!r}"
        return f"StaticCredentials(access_key_id={MASK!r}, secret_access_key={MASK!r}{token})"

    def options(self) -> dict[str, str | None]:
        """The Spark options of these keys. The secrets are not masked: do not print them."""
        return {
            "awsAccessKeyId": self.access_key_id,
            "awsSecretAccessKey": self.secret_access_key,
            "awsSessionToken": self.session_token,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """A profile of the AWS configuration files on the machines where Spark's JVMs run.

    Attributes:
        name: name of the profile, such as ``"default"``.
    """

    name: str

    def __post_init__(self) -> None:
        """Check types."""
        require("name", self.name, str)

    def options(self) -> dict[str, str | None]:
        """The Spark options of this profile."""
        return {"profile": self.name}


@dataclass(frozen=True, kw_only=True, slots=True)
class CredentialsProvider:
    """A class on the class path of Spark's JVMs that gives the connector credentials.

    The class implements ``sparkkinesis.client.access.CredentialsProvider``. The driver and each
    executor create their own objects of it.

    Attributes:
        class_name: full name of the class, such as ``"com.example.VaultCredentials"``.
        secret: text for the class's constructor or static method ``create``, such as a token or
            the path of a secret; default: the connector passes nothing. Masked like a key.
    """

    class_name: str
    secret: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check types."""
        require("class_name", self.class_name, str)
        require("secret", self.secret, str, ABSENT, secret=True)

    def options(self) -> dict[str, str | None]:
        """The Spark options of this class. The secret is not masked: do not print it."""
        return {"credentialsProvider": self.class_name, "credentialsProviderSecret": self.secret}


@dataclass(frozen=True, kw_only=True, slots=True)
class AssumeRole:
    """A role that the connector assumes, and renews before its credentials expire.

    Attributes:
        arn: ARN of the role.
        session_name: name of the session in the logs of the role's account; default
            ``spark-kinesis``.
        external_id: id that the owner of the role requires; default: none. This package masks it,
            but AWS does not treat it as a secret, and Spark's ``explain`` shows it.
        sts_endpoint: URL of the token service; default: that of the region.
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
        """The Spark options of this role. The external id is not masked: do not print it."""
        return {
            "roleArn": self.arn,
            "roleSessionName": self.session_name,
            "roleExternalId": self.external_id,
            "stsEndpoint": self.sts_endpoint,
        }


Credentials = StaticCredentials | Profile | CredentialsProvider
