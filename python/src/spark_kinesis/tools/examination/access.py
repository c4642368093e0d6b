"""As whom are the calls made, in which region, and is the clock right? Secrets are never kept."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from spark_kinesis import SparkKinesisError
from spark_kinesis._boto import LOCAL_REGION, code_of
from spark_kinesis._times import duration_text, utc_now

from .finding import Finding, Section
from .refusals import call_errors, refused, stopped, text_of
from .setup import region_of

if TYPE_CHECKING:
    from .setup import Setup

ACCESS = Section("access")
# The hosts of AWS: kinesis.eu-west-1.amazonaws.com, also with -fips, vpce and .cn.
_HOST = re.compile(r"(?:^|\.)kinesis(?:-fips)?\.([a-z0-9-]+)\.(?:vpce\.)?(?:amazonaws|api)\.")
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
# AWS refuses a signature whose time differs more: KINESIS_CLOCK_SKEW.
_REFUSED = timedelta(minutes=5)
# A clock that NTP keeps is right to a second, and the service's time is known to a second.
_WRONG = timedelta(seconds=30)


def access_check(setup: Setup) -> list[Finding]:
    """Region and credentials. The later checks use this region."""
    try:
        setup.connection.session()  # refuses an unknown profile
        region = region_finding(setup)
        return [region, *_credentials(setup)]
    except SparkKinesisError as error:
        return [stopped(ACCESS, "credentials", error)]


def region_finding(setup: Setup) -> Finding:
    """Is there one region? The connection has it afterwards."""
    option, arn = setup.connection.region, region_of(setup.stream)
    found = _region(setup)
    if found is not None:
        region, place = found
        setup.connection = replace(setup.connection, region=region)
        if option and arn and option != arn:
            return ACCESS.problem(
                "region",
                f"the region is {option}, and the ARN of the stream has {arn}",
                "Remove the option region. The connector takes the region from the ARN.",
            )
        return ACCESS.ok("region", f"{region}, from {place}")
    ignored = os.environ.get("AWS_DEFAULT_REGION")
    if ignored:
        return ACCESS.problem(
            "region",
            f"only AWS_DEFAULT_REGION is set, to {ignored}. The connector runs in Java, where the "
            "AWS SDK does not read it",
            f"Set AWS_REGION={ignored}, or the option region.",
        )
    return ACCESS.problem(
        "region",
        "there is no region",
        "Set the option region, AWS_REGION, or a region in the AWS profile.",
    )


def _region(setup: Setup) -> tuple[str, str] | None:
    """The region, and where the connector would find it: in the first place that has one."""
    from botocore.session import Session  # noqa: PLC0415 optional

    connection = setup.connection
    host = _HOST.search(urlsplit(connection.endpoint or "").hostname or "")
    places = (
        (connection.region, "the option"),
        (region_of(setup.stream), "the ARN of the stream"),
        (host[1] if host else None, "the host name of the endpoint"),
        (LOCAL_REGION if setup.is_local else None, "the default of a local endpoint"),
        (os.environ.get("AWS_REGION"), "AWS_REGION"),
        (Session(profile=connection.profile).get_scoped_config().get("region"), "the AWS profile"),
    )
    found = next(((region, place) for region, place in places if region), None)
    if found is None and (region := _of_instance()):
        return region, "the metadata of the instance"
    return found


def _of_instance() -> str | None:
    from botocore.utils import InstanceMetadataRegionFetcher  # noqa: PLC0415 optional

    region: str | None = InstanceMetadataRegionFetcher(timeout=1, num_attempts=1).retrieve_region()
    return region


def _credentials(setup: Setup) -> Iterator[Finding]:
    """Which credentials win, are they valid, and whose are they?"""
    try:
        found = setup.connection.session().get_credentials()
        token = None if found is None else found.get_frozen_credentials().token
    except call_errors() as error:
        yield ACCESS.problem(
            "credentials",
            f"the first provider that has credentials could not be loaded: {text_of(error)}",
            "Log in again, for example with aws sso login, or correct the AWS profile.",
        )
        return
    if found is None:
        yield ACCESS.problem(
            "credentials",
            "there are no credentials",
            "Attach a role to the instance, the pod or the job, or set a profile: see "
            "docs/how-to/iam.md.",
        )
        return
    name = _PROVIDERS.get(found.method, found.method)
    yield ACCESS.ok("credentials", f"the AWS SDK for Python found {name}")
    if token is not None:
        # botocore has no public name for it.
        expires: datetime | None = getattr(found, "_expiry_time", None)
        yield expiry_finding(found.method, expires, utc_now())
    if setup.is_aws:
        yield _identity(setup)


def expiry_finding(provider: str, expires: datetime | None, now: datetime) -> Finding:
    """How long are temporary credentials valid?

    Args:
        provider: the name of their provider in botocore.
        expires: when they expire. ``None`` if the provider does not say so.
        now: the time.
    """
    if expires is None:
        return ACCESS.unknown(
            "expiry",
            "the credentials are temporary, and do not say when they expire",
            "A query needs credentials that are renewed, such as those of a role.",
        )
    left = expires - now
    if left <= timedelta():
        seen = f"the credentials expired {duration_text(left)} ago"
        return ACCESS.problem("expiry", seen, "Renew them, for example with aws sso login.")
    renewed = ", and are renewed" if provider in _RENEWED else ""
    return ACCESS.ok("expiry", f"the credentials are valid for {duration_text(left)}{renewed}")


def _identity(setup: Setup) -> Finding:
    """Ask AWS who the caller is, which needs no permission."""
    try:
        setup.identity = str(setup.service("sts").get_caller_identity()["Arn"])
    except call_errors() as error:
        if isinstance(error, SparkKinesisError) or code_of(error) in _UNREACHABLE:
            seen = f"AWS STS was not reached: {error}"
            return ACCESS.unknown("identity", seen, "Kinesis itself does not need it.")
        return refused(ACCESS, "identity", error, "sts:GetCallerIdentity")
    return ACCESS.ok("identity", f"AWS knows the caller as {setup.identity}")


def clock_finding(ahead: timedelta | None) -> Finding:
    """Is the clock of this machine right?

    Args:
        ahead: time by which the service's clock is ahead of this machine's. ``None`` if unknown.
    """
    if ahead is None:
        return ACCESS.unknown("clock", "the service did not show its time")
    direction = "behind" if ahead > timedelta() else "ahead of"
    seen = f"the clock of this machine is {duration_text(ahead)} {direction} the service's"
    if abs(ahead) < _WRONG:
        return ACCESS.ok("clock", seen)
    if abs(ahead) < _REFUSED:
        remedy = "Set the clock, for example with NTP. AWS refuses requests from five minutes on."
        return ACCESS.problem("clock", seen, remedy)
    seen += ". AWS refuses such requests with KINESIS_CLOCK_SKEW"
    return ACCESS.problem("clock", seen, "Set the clock, for example with NTP.")
