"""How source and sink reach Kinesis: credentials, role, proxy and timeouts.

No ``repr`` and no ``str`` of these classes shows a secret.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import timedelta

from .declared import (
    ABSENT,
    MASK,
    check,
    needed,
    period,
    require,
    string,
    switch,
    texts,
    url,
    without_password,
)


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


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Proxy:
    """An HTTP proxy for requests to Kinesis, and to AWS STS if a role is assumed.

    Attributes:
        url: URL of the proxy, such as ``"http://proxy.example.com:3128"``.
        username: name for the proxy; default: the connector does not authenticate.
        password: password for the proxy. Set both or neither.
    """

    url: str = field(metadata=needed("proxy", "url"))
    username: str | None = string("proxyUsername")
    password: str | None = string("proxyPassword", secret=True)

    def __post_init__(self) -> None:
        """Check types. The messages do not show the password."""
        check(self)

    def __repr__(self) -> str:
        """Show the fields that are set, with the password masked, also that in the URL."""
        name = "" if self.username is None else f", username={self.username!r}"
        password = "" if self.password is None else f", password={MASK!r}"
        return f"Proxy(url={without_password(self.url)!r}{name}{password})"

    def options(self) -> dict[str, str | None]:
        """The Spark options of this proxy. The password is not masked: do not print it."""
        return texts(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeouts:
    """Time limits of calls to AWS. The connector repeats a call that exceeds a limit.

    Attributes:
        connect: maximum time to open a connection; default: 5 s.
        read: maximum time from a request to the end of its response; default: 30 s.
        call: maximum time of a call, including its credentials; default: ``read`` plus 10 s. It
            cannot be less than ``read``, and at most 40 s with
            ``delivery_guarantee="exactly_once"``.
    """

    connect: timedelta | None = period("connectTimeout")
    read: timedelta | None = period("readTimeout")
    call: timedelta | None = period("callTimeout")

    def __post_init__(self) -> None:
        """Check types."""
        check(self)

    def options(self) -> dict[str, str | None]:
        """The Spark options of these limits.

        Raises:
            ValueError: if a limit is not a whole number of milliseconds.
        """
        return texts(self)


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
