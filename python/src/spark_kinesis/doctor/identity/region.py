"""Which region the connector would use."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from spark_kinesis.doctor.aws.access import region_of
from spark_kinesis.doctor.finding import Finding, ok, problem

if TYPE_CHECKING:
    from spark_kinesis.doctor.aws import Access

SECTION = "access"
_SUBJECT = "region"
# The hosts of AWS: kinesis.eu-west-1.amazonaws.com, also with -fips, vpce and .cn.
_HOST = re.compile(r"(?:^|\.)kinesis(?:-fips)?\.([a-z0-9-]+)\.(?:vpce\.)?(?:amazonaws|api)\.")


@dataclass(frozen=True, kw_only=True)
class RegionFacts:
    """The places where the connector looks for a region, in its order.

    Attributes:
        option: the option ``--region``.
        arn: the ARN of the stream.
        host: the host name of an AWS endpoint.
        variable: the environment variable ``AWS_REGION``.
        profile: the profile of the AWS configuration files.
        instance: the metadata of the instance.
        default_variable: the environment variable ``AWS_DEFAULT_REGION``, which only Python reads.
        is_local: whether the endpoint is on this machine, where any region will do.
    """

    option: str | None = None
    arn: str | None = None
    host: str | None = None
    variable: str | None = None
    profile: str | None = None
    instance: str | None = None
    default_variable: str | None = None
    is_local: bool = False

    @property
    def found(self) -> tuple[str, str] | None:
        """The region, and where it was found."""
        places = (
            (self.option, "the option"),
            (self.arn, "the ARN of the stream"),
            (self.host, "the host name of the endpoint"),
            ("us-east-1" if self.is_local else None, "the default of a local endpoint"),
            (self.variable, "AWS_REGION"),
            (self.profile, "the AWS profile"),
            (self.instance, "the metadata of the instance"),
        )
        return next(((region, place) for region, place in places if region), None)


def find_region(access: Access, stream: str | None) -> RegionFacts:
    """Look for the region. The metadata of the instance is asked only if nothing else has one."""
    host = _HOST.search(urlsplit(access.endpoint or "").hostname or "")
    facts = RegionFacts(
        option=access.region,
        arn=region_of(stream),
        host=host[1] if host else None,
        variable=os.environ.get("AWS_REGION"),
        profile=_of_profile(access.session()),
        default_variable=os.environ.get("AWS_DEFAULT_REGION"),
        is_local=access.is_local,
    )
    return (
        facts
        if facts.found
        else RegionFacts(instance=_of_instance(), default_variable=facts.default_variable)
    )


def region_finding(facts: RegionFacts) -> Finding:
    """Is there one region?"""
    if facts.option and facts.arn and facts.option != facts.arn:
        return problem(
            SECTION,
            _SUBJECT,
            f"the region is {facts.option}, and the ARN of the stream has {facts.arn}",
            "Remove the option region. The connector takes the region from the ARN.",
        )
    if facts.found is not None:
        region, place = facts.found
        return ok(SECTION, _SUBJECT, f"{region}, from {place}")
    if facts.default_variable:
        return problem(
            SECTION,
            _SUBJECT,
            f"only AWS_DEFAULT_REGION is set, to {facts.default_variable}. The connector runs in "
            "Java, where the AWS SDK does not read it",
            f"Set AWS_REGION={facts.default_variable}, or the option region.",
        )
    return problem(
        SECTION,
        _SUBJECT,
        "there is no region",
        "Set the option region, AWS_REGION, or a region in the AWS profile.",
    )


def _of_profile(session: Any) -> str | None:
    # boto3 has no public way to read the settings of a profile.
    found: dict[str, str] = session._session.get_scoped_config()  # noqa: SLF001
    return found.get("region")


def _of_instance() -> str | None:
    from botocore.utils import InstanceMetadataRegionFetcher  # noqa: PLC0415 optional

    region: str | None = InstanceMetadataRegionFetcher(timeout=1, num_attempts=1).retrieve_region()
    return region
