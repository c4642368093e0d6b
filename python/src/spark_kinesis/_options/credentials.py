"""Credentials for calls to Kinesis. No ``repr`` and no ``str`` of them shows a secret."""

from __future__ import annotations

from dataclasses import dataclass, field

from .declared import check, needed, string, texts, url
from .mapping import MASK


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StaticCredentials:
    """Access keys. Outside of tests, prefer a profile or the default chain of the AWS SDK.

    Attributes:
        access_key_id: id of the access key.
        secret_access_key: secret of the access key.
        session_token: token of temporary keys; default: none.
    """

    access_key_id: str = field(metadata=needed("awsAccessKeyId", secret=True))
    secret_access_key: str = field(metadata=needed("awsSecretAccessKey", secret=True))
    session_token: str | None = string("awsSessionToken", secret=True)

    def __post_init__(self) -> None:
        """Check types. The messages name the field and never its value."""
        check(self)

    def __repr__(self) -> str:
        """Show which fields are set, with their values masked."""
        token = "" if self.session_token is None else f", session_token={MASK!r}"
        return f"StaticCredentials(access_key_id={MASK!r}, secret_access_key={MASK!r}{token})"

    def options(self) -> dict[str, str | None]:
        """The Spark options of these keys. The secrets are not masked: do not print them."""
        return texts(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """A profile of the AWS configuration files on the machines where Spark's JVMs run.

    Attributes:
        name: name of the profile, such as ``"default"``.
    """

    name: str = field(metadata=needed("profile"))

    def __post_init__(self) -> None:
        """Check types."""
        check(self)

    def options(self) -> dict[str, str | None]:
        """The Spark options of this profile."""
        return texts(self)


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

    class_name: str = field(metadata=needed("credentialsProvider"))
    secret: str | None = string("credentialsProviderSecret", secret=True)

    def __post_init__(self) -> None:
        """Check types."""
        check(self)

    def options(self) -> dict[str, str | None]:
        """The Spark options of this class. The secret is not masked: do not print it."""
        return texts(self)


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

    arn: str = field(metadata=needed("roleArn"))
    session_name: str | None = string("roleSessionName")
    external_id: str | None = string("roleExternalId", secret=True)
    sts_endpoint: str | None = url("stsEndpoint")

    def __post_init__(self) -> None:
        """Check types."""
        check(self)

    def options(self) -> dict[str, str | None]:
        """The Spark options of this role. The external id is not masked: do not print it."""
        return texts(self)


Credentials = StaticCredentials | Profile | CredentialsProvider
