"""The checks that need no stream: software, region and credentials, network."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spark_kinesis import SparkKinesisError
from spark_kinesis._times import utc_now
from spark_kinesis.doctor.aws import account_of
from spark_kinesis.doctor.finding import Finding, problem
from spark_kinesis.doctor.identity import (
    credential_findings,
    find_credentials,
    find_region,
    region_finding,
    skew_finding,
)
from spark_kinesis.doctor.installed import find_installed, installed_findings
from spark_kinesis.doctor.network import (
    account_finding,
    account_urls,
    network_findings,
    route_to,
    travel,
)

from .base import Say, stopped

if TYPE_CHECKING:
    from spark_kinesis.doctor.question import Question


def software_check(question: Question, say: Say) -> list[Finding]:  # noqa: ARG001 a Check
    """Versions and jars."""
    return installed_findings(find_installed(question.spark))


def access_check(question: Question, say: Say) -> list[Finding]:  # noqa: ARG001 a Check
    """Region and credentials. The later checks use this region."""
    try:
        region = find_region(question.access, question.stream)
        if region.found is not None:
            question.access = replace(question.access, region=region.found[0])
        credentials = find_credentials(question.access)
        question.identity = credentials.identity
    except SparkKinesisError as error:
        return [stopped("access", "credentials", error)]
    return [region_finding(region), *credential_findings(credentials, utc_now())]


def network_check(question: Question, say: Say) -> list[Finding]:  # noqa: ARG001 a Check
    """The way to the endpoint, and the clock of the service. Needs a region, no credentials."""
    access = question.access
    try:
        url = access.kinesis(question.stream).meta.endpoint_url
    except SparkKinesisError:
        return []  # the check of the region has said why
    try:
        route = route_to(url, is_local=access.is_local)
    except ValueError as error:
        remedy = "Correct HTTPS_PROXY or HTTP_PROXY: its form is http://host:port."
        return [problem("network", "proxy", f"the URL of the proxy is wrong: {error}", remedy)]
    trip = travel(route)
    access.clock.learn(trip.headers)
    findings = network_findings(trip, needs_http2=question.consumer is not None)
    account = _account(question)
    if account is not None:
        routes = [route_to(it, is_local=access.is_local) for it in account_urls(url, account)]
        findings += [account_finding(travel(it)) for it in routes]
    if trip.headers:
        findings.append(skew_finding(access.clock.ahead))
    return findings


def _account(question: Question) -> str | None:
    """The account of the stream, if calls go to its endpoints: by an ARN, or by a consumer."""
    named = account_of(question.stream) or account_of(question.consumer)
    if named is not None or question.consumer is None:
        return named
    return account_of(question.identity)
