"""Which credentials win, and until when they are valid. Secrets are never kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from spark_kinesis import SparkKinesisError
from spark_kinesis._times import duration_text
from spark_kinesis.doctor.aws import code_of, text_of
from spark_kinesis.doctor.aws import refused as refused_call
from spark_kinesis.doctor.finding import Finding, ok, problem, unknown

if TYPE_CHECKING:
    from spark_kinesis.doctor.aws import Access

SECTION = "access"
_UNNAMED = "unnamed"
_PROVIDERS = {
    "env": "environment variables",
    "shared-credentials-file": "the file of AWS credentials",
    "config-file": "the AWS configuration file",
    "assume-role": "a role of the AWS profile",
    "assume-role-with-web-identity": "a web identity, as in EKS",
    "sso": "IAM Identity Center (SSO)",
    "login": "aws login",
    "custom-process": "the credential_process of the AWS profile",
    "container-role": "the role of the container",
    "iam-role": "the role of the instance",
    "spark-kinesis-role": "the role of --role-arn",
    _UNNAMED: "the first provider that has credentials",
    "explicit": "placeholders, because the endpoint is local",
}
# Providers that replace their credentials before they expire.
_RENEWED = (
    "assume-role",
    "spark-kinesis-role",
    "assume-role-with-web-identity",
    "container-role",
    "iam-role",
    "sso",
)
_UNREACHABLE = ("EndpointConnectionError", "ConnectTimeoutError", "ReadTimeoutError")


@dataclass(frozen=True, kw_only=True)
class CredentialFacts:
    """The credentials that the AWS SDK finds.

    Attributes:
        provider: the provider that won, by its name in botocore. ``None`` without credentials.
        is_temporary: whether they have a session token.
        expires: when they expire, as far as the provider says so.
        failure: why they could not be loaded, or ``None``.
        identity: ARN of the user or role. ``None`` if nobody was asked.
        refusal: the error of the question for the identity, or ``None``.
    """

    provider: str | None = None
    is_temporary: bool = False
    expires: datetime | None = None
    failure: str | None = None
    identity: str | None = None
    refusal: Exception | None = None


def find_credentials(access: Access) -> CredentialFacts:
    """Load the credentials, and ask AWS whose they are, which needs no permission.

    Raises:
        SparkKinesisError: if boto3 is missing, or the profile is unknown.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

    session = access.session()
    try:
        found = session.get_credentials()
        if found is None:
            return CredentialFacts()
        frozen = found.get_frozen_credentials()
    except (BotoCoreError, ClientError) as error:
        return CredentialFacts(provider=_UNNAMED, failure=text_of(error))
    identity, refusal = None, None
    if access.is_aws:
        try:
            identity = str(access.service("sts").get_caller_identity()["Arn"])
        except (BotoCoreError, ClientError, SparkKinesisError) as error:
            refusal = error
    return CredentialFacts(
        provider=found.method,
        is_temporary=frozen.token is not None,
        expires=_expiry(found),
        identity=identity,
        refusal=refusal,
    )


def credential_findings(facts: CredentialFacts, now: datetime) -> list[Finding]:
    """Are there credentials, are they valid, and whose are they?"""
    if facts.provider is None:
        return [_none()]
    name = _PROVIDERS.get(facts.provider, facts.provider)
    if facts.failure is not None:
        remedy = "Log in again, for example with aws sso login, or correct the AWS profile."
        seen = f"{name} could not be loaded: {facts.failure}"
        return [problem(SECTION, "credentials", seen, remedy)]
    found = [ok(SECTION, "credentials", f"the AWS SDK for Python found {name}")]
    if facts.is_temporary:
        found.append(_lifetime(facts, now))
    return [*found, *_identity(facts)]


def _none() -> Finding:
    return problem(
        SECTION,
        "credentials",
        "there are no credentials",
        "Attach a role to the instance, the pod or the job, or set a profile: see "
        "docs/how-to/iam.md.",
    )


def _lifetime(facts: CredentialFacts, now: datetime) -> Finding:
    if facts.expires is None:
        return unknown(
            SECTION,
            "expiry",
            "the credentials are temporary, and do not say when they expire",
            "A query needs credentials that are renewed, such as those of a role.",
        )
    left = facts.expires - now
    if left <= timedelta():
        seen = f"the credentials expired {duration_text(left)} ago"
        return problem(SECTION, "expiry", seen, "Renew them, for example with aws sso login.")
    seen = f"the credentials are valid for {duration_text(left)}"
    if facts.provider in _RENEWED:
        seen += ", and are renewed"
    return ok(SECTION, "expiry", seen)


def _identity(facts: CredentialFacts) -> list[Finding]:
    if facts.identity is not None:
        return [ok(SECTION, "identity", f"AWS knows the caller as {facts.identity}")]
    error = facts.refusal
    if error is None:
        return []
    if isinstance(error, SparkKinesisError) or code_of(error) in _UNREACHABLE:
        seen = f"AWS STS was not reached: {error}"
        return [unknown(SECTION, "identity", seen, "Kinesis itself does not need it.")]
    return [refused_call(SECTION, "identity", error, "sts:GetCallerIdentity")]


def _expiry(credentials: Any) -> datetime | None:
    found: datetime | None = getattr(credentials, "_expiry_time", None)
    return found
