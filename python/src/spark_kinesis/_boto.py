"""boto3, which is an optional package."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies_environment

from ._errors import MissingPackageError, SparkKinesisError

if TYPE_CHECKING:
    from types import ModuleType

LOCAL_REGION = "us-east-1"
TRANSIENT = (
    "ProvisionedThroughputExceededException",
    "LimitExceededException",
    "ThrottlingException",
    "Throttling",
    "KMSThrottlingException",
    "InternalFailure",
    "InternalFailureException",
    "ServiceUnavailable",
    "ServiceUnavailableException",
)
"""The services' names of errors that may pass."""
_ROLE_ATTEMPTS = 5
_AWS_DOMAINS = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws", ".amazonaws.eu")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def boto3(user: str) -> ModuleType:
    """Import boto3 for the feature ``user``, which the ``MissingPackageError`` names."""
    try:
        import boto3 as package  # noqa: PLC0415 optional, and slow to load
    except ImportError as error:
        raise MissingPackageError(f"{user} needs boto3: pip install boto3") from error
    found: ModuleType = package
    return found


@dataclass(frozen=True, kw_only=True)
class CallSettings:
    """How calls reach AWS, and as which role. The defaults are those of the AWS SDK.

    It raises a ``SparkKinesisError`` for a wrong URL of a proxy.

    Attributes:
        role_arn: ARN of a role to assume.
        external_id: ID that the owner of the role requires.
        proxy: URL of an HTTP proxy, which may contain a name and a password.
        ca_bundle: file of the certificates to trust.
    """

    role_arn: str | None = None
    external_id: str | None = field(default=None, repr=False)
    proxy: str | None = field(default=None, repr=False)
    ca_bundle: str | None = None

    def __post_init__(self) -> None:
        if self.proxy is not None:
            _require_url("--proxy", self.proxy)

    def config(self, endpoint: str | None, attempts: int, timeout: float | None = None) -> Any:
        """The configuration of a client, as in ``client``. Calls to this machine need no proxy."""
        from botocore.config import Config  # noqa: PLC0415 optional

        if self.proxy is None and not is_local(endpoint):
            for name, url in getproxies_environment().items():
                if name in ("http", "https"):
                    _require_url(f"{name}_proxy", url if "://" in url else f"http://{url}")
        proxies = None if self.proxy is None else {"http": self.proxy, "https": self.proxy}
        found = Config(
            retries={"mode": "standard", "total_max_attempts": attempts},
            proxies={} if is_local(endpoint) else proxies,
        )
        if timeout is None:
            return found
        return found.merge(Config(connect_timeout=timeout, read_timeout=timeout))


_DIRECT = CallSettings()


def _require_url(name: str, url: str) -> None:
    """Refuse a proxy before a library does: its message would show a part of the password."""
    try:
        parts = urlsplit(url)
        is_good = bool(parts.hostname) and parts.port != 0
        is_good &= parts.path in ("", "/") and not (parts.query or parts.fragment)
    except ValueError:
        is_good = False
    if not is_good:
        raise SparkKinesisError(
            f"{name}: no URL such as http://host:3128. In a name or a password, write / as %2F, # "
            "as %23 and ? as %3F"
        )


def client(
    user: str,
    service: str,
    endpoint: str | None,
    region: str | None,
    profile: str | None,
    *,
    attempts: int,
    timeout: float | None = None,
    keys: Mapping[str, str] | None = None,
    settings: CallSettings = _DIRECT,
) -> Any:
    """A client of a service, such as ``kinesis``, of the session that ``session`` describes.

    It makes a call that fails for a while so many ``attempts``, and waits ``timeout`` seconds for a
    connection, and for an answer; default: as long as botocore.

    Raises:
        MissingPackageError: if boto3 is not installed.
        SparkKinesisError: if region or profile is missing or unknown.
    """
    found = session(user, endpoint, region, profile, keys=keys, settings=settings)
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    config = settings.config(endpoint, attempts, timeout)
    try:
        return found.client(
            service, endpoint_url=endpoint, config=config, verify=settings.ca_bundle
        )
    except (BotoCoreError, ValueError) as error:
        raise SparkKinesisError(f"cannot connect to {service.capitalize()}: {error}") from error


def session(
    user: str,
    endpoint: str | None,
    region: str | None,
    profile: str | None,
    *,
    keys: Mapping[str, str] | None = None,
    settings: CallSettings = _DIRECT,
) -> Any:
    """A session of boto3.

    For a local endpoint, proxies are ignored. Without a profile, its default region is us-east-1,
    and the keys are placeholders unless there is a role, or keys in the environment. Otherwise
    region and credentials come from the default chain of the AWS SDK. ``AWS_REGION`` is part of it,
    as in the connector.

    Args:
        user: name of the feature that needs boto3, for the error message.
        endpoint: URL; default: that of AWS.
        region: AWS region.
        profile: profile of the AWS configuration files.
        keys: arguments of boto3's session with credentials; default: none.
        settings: how calls reach AWS, and as which role.

    Raises:
        MissingPackageError: if boto3 is not installed.
        SparkKinesisError: if the profile is unknown.
    """
    package = boto3(user)
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 comes with boto3

    given = dict(keys or {})
    if is_local(endpoint) and profile is None:
        region = region or LOCAL_REGION
    if needs_placeholders(endpoint, profile, settings) and not given:
        given = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
    # boto3 itself reads AWS_DEFAULT_REGION, and the AWS SDK for Java does not.
    region = region or os.environ.get("AWS_REGION")
    try:
        found = package.Session(profile_name=profile, region_name=region, **given)
        if settings.role_arn is None:
            return found
        return _assuming(package, found, profile, settings.role_arn, settings)
    except (BotoCoreError, ValueError) as error:
        raise SparkKinesisError(f"cannot connect to AWS: {error}") from error


def _assuming(
    package: ModuleType, caller: Any, profile: str | None, role_arn: str, settings: CallSettings
) -> Any:
    """A session of the role, whose credentials are renewed before they expire.

    The endpoints of the profile, and its other settings, apply to the calls of the role, too.
    """
    from botocore.credentials import (  # noqa: PLC0415 comes with boto3
        AssumeRoleCredentialFetcher,
        CredentialProvider,
        DeferredRefreshableCredentials,
    )
    from botocore.session import get_session  # noqa: PLC0415

    def create(service: str, **keys: Any) -> Any:
        return caller.client(
            service, config=settings.config(None, _ROLE_ATTEMPTS), verify=settings.ca_bundle, **keys
        )

    extra = {"RoleSessionName": "spark-kinesis"}
    if settings.external_id is not None:
        extra["ExternalId"] = settings.external_id
    credentials = caller.get_credentials()
    if credentials is None:
        raise SparkKinesisError(
            f"there are no credentials to assume the role {role_arn} with: name a profile, or set "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        )
    fetcher = AssumeRoleCredentialFetcher(
        client_creator=create,
        source_credentials=credentials,
        role_arn=role_arn,
        extra_args=extra,
    )

    class Role(CredentialProvider):
        METHOD = CANONICAL_NAME = "spark-kinesis-role"

        def load(self) -> Any:
            return DeferredRefreshableCredentials(fetcher.fetch_credentials, self.METHOD)

    core = get_session()
    if profile is not None:
        core.set_config_variable("profile", profile)
    core.get_component("credential_provider").providers.insert(0, Role())
    return package.Session(botocore_session=core, region_name=caller.region_name)


def needs_placeholders(
    endpoint: str | None, profile: str | None, settings: CallSettings = _DIRECT
) -> bool:
    """Whether an endpoint is called with made-up keys: it is local, and nobody names others."""
    is_named = profile is not None or settings.role_arn is not None
    return is_local(endpoint) and not is_named and "AWS_ACCESS_KEY_ID" not in os.environ


def is_local(endpoint: str | None) -> bool:
    """Whether an endpoint is on this machine."""
    return endpoint is not None and urlsplit(endpoint).hostname in _LOOPBACK


def is_aws(endpoint: str | None) -> bool:
    """Whether an endpoint is that of AWS, so that its other services know the same account."""
    return endpoint is None or (urlsplit(endpoint).hostname or "").endswith(_AWS_DOMAINS)


def aws_errors() -> tuple[type[Exception], ...]:
    """What a call of boto3 raises, for a clause ``except``. Nothing if it is not installed."""
    try:
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional
    except ImportError:
        return ()
    return BotoCoreError, ClientError


def answer_of(error: Exception) -> dict[str, Any]:
    """The service's part of an error. Empty for an error without an answer."""
    found: dict[str, Any] = (getattr(error, "response", None) or {}).get("Error", {})
    return found


def code_of(error: Exception) -> str:
    """The service's name of an error, or the class of an error without an answer."""
    return str(answer_of(error).get("Code") or type(error).__name__)


def is_from_aws(error: Exception) -> bool:
    """Whether boto3 raised an error. It may not be installed."""
    return type(error).__module__.startswith("botocore.")
