"""As whom are the calls made, and in which region? Secrets are never kept."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from spark_kinesis import SparkKinesisError
from spark_kinesis._boto import LOCAL_REGION, code_of

from .finding import Finding, Section, call_errors, region_of, text_of

if TYPE_CHECKING:
    from .finding import Setup

ACCESS = Section("access")
# The hosts of AWS: kinesis.eu-west-1.amazonaws.com, also with -fips, vpce and .cn.
_HOST = re.compile(r"(?:^|\.)kinesis(?:-fips)?\.([a-z0-9-]+)\.(?:vpce\.)?(?:amazonaws|api)\.")
_UNREACHABLE = ("EndpointConnectionError", "ConnectTimeoutError", "ReadTimeoutError")


def access_check(setup: Setup) -> Iterator[Finding]:
    """Region and credentials. The later checks use this region."""
    try:
        setup.connection.session()  # refuses an unknown profile
        yield region_finding(setup)
        yield from _credentials(setup)
    except SparkKinesisError as error:
        yield ACCESS.refused("credentials", error, "the session of boto3")


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
    remedy = "Set the option region, AWS_REGION, or a region in the AWS profile."
    return ACCESS.problem("region", "there is no region", remedy)


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
        if found is not None:
            found.get_frozen_credentials()  # asks the provider, which may fail
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
    provider = "placeholders" if found.method == "explicit" else f"its provider {found.method}"
    yield ACCESS.ok("credentials", f"the AWS SDK for Python uses {provider}")
    if setup.is_aws:
        yield _identity(setup)


def _identity(setup: Setup) -> Finding:
    """Ask AWS who the caller is, which needs no permission."""
    try:
        identity = setup.service("sts").get_caller_identity()["Arn"]
    except call_errors() as error:
        if isinstance(error, SparkKinesisError) or code_of(error) in _UNREACHABLE:
            seen = f"AWS STS was not reached: {error}"
            return ACCESS.unknown("identity", seen, "Kinesis itself does not need it.")
        return ACCESS.refused("identity", error, "sts:GetCallerIdentity")
    return ACCESS.ok("identity", f"AWS knows the caller as {identity}")
