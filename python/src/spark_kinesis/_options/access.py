"""How source and sink reach Kinesis: credentials, role, proxy and timeouts.

No ``repr`` and no ``str`` of these classes shows a secret.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from .declared import Declared, needed, option, part


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StaticCredentials(Declared):
    """Access keys. Outside of tests, prefer a profile or the default chain of the AWS SDK.

    Attributes:
        access_key_id: id of the access key.
        secret_access_key: secret of the access key.
        session_token: token of temporary keys; default: none.
    """

    access_key_id: str = field(metadata=needed("awsAccessKeyId", secret=True))
    secret_access_key: str = field(metadata=needed("awsSecretAccessKey", secret=True))
    session_token: str | None = option("awsSessionToken", str, secret=True)


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Profile(Declared):
    """A profile of the AWS configuration files on the machines where Spark's JVMs run.

    Attributes:
        name: name of the profile, such as ``"default"``.
    """

    name: str = field(metadata=needed("profile"))


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class CredentialsProvider(Declared):
    """A class on the class path of Spark's JVMs that gives the connector credentials.

    The class implements ``sparkkinesis.client.access.CredentialsProvider``. The driver and each
    executor create their own objects of it.

    Attributes:
        class_name: full name of the class, such as ``"com.example.VaultCredentials"``.
        secret: text for the class's constructor or static method ``create``, such as a token or
            the path of a secret; default: the connector passes nothing. Masked like a key.
    """

    class_name: str = field(metadata=needed("credentialsProvider"))
    secret: str | None = option("credentialsProviderSecret", str, secret=True)


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class AssumeRole(Declared):
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
    session_name: str | None = option("roleSessionName", str)
    external_id: str | None = option("roleExternalId", str, secret=True)
    sts_endpoint: str | None = option("stsEndpoint", str)


Credentials = StaticCredentials | Profile | CredentialsProvider


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Proxy(Declared):
    """An HTTP proxy for requests to Kinesis, and to AWS STS if a role is assumed.

    Attributes:
        url: URL of the proxy, such as ``"http://proxy.example.com:3128"``.
        username: name for the proxy; default: the connector does not authenticate.
        password: password for the proxy. Set both or neither.
    """

    url: str = field(metadata=needed("proxy"))
    username: str | None = option("proxyUsername", str)
    password: str | None = option("proxyPassword", str, secret=True)


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Timeouts(Declared):
    """Time limits of calls to AWS. The connector repeats a call that exceeds a limit.

    Attributes:
        connect: maximum time to open a connection; default: 5 s.
        read: maximum time from a request to the end of its response; default: 30 s.
        call: maximum time of a call, including its credentials; default: ``read`` plus 10 s. It
            cannot be less than ``read``, and at most 40 s with
            ``delivery_guarantee="exactly_once"``.
    """

    connect: timedelta | None = option("connectTimeout", timedelta)
    read: timedelta | None = option("readTimeout", timedelta)
    call: timedelta | None = option("callTimeout", timedelta)


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class StreamAccess(Declared):
    """Base of source and sink: how to reach Kinesis. Their docstrings describe the fields."""

    region: str | None = option("region", str)
    endpoint: str | None = option("endpoint", str)
    credentials: Credentials | None = part(StaticCredentials, Profile, CredentialsProvider)
    role: AssumeRole | None = part(AssumeRole)
    proxy: Proxy | None = part(Proxy)
    ca_bundle: str | None = option("caBundle", str)
    allow_unencrypted_endpoint: bool | None = option("allowUnencryptedEndpoint", bool)
    use_fips_endpoint: bool | None = option("useFipsEndpoint", bool)
    use_dual_stack_endpoint: bool | None = option("useDualStackEndpoint", bool)
    timeouts: Timeouts | None = part(Timeouts)
