"""What the checks share: what they examine, and what they find."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any

from spark_kinesis import SparkKinesisError
from spark_kinesis._boto import TRANSIENT, answer_of, aws_errors, code_of, is_aws, is_local
from spark_kinesis._times import utc_now

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient
    from pyspark.sql import SparkSession

    from spark_kinesis.tools.cli import Connection
    from spark_kinesis.tools.facts.streams import StreamShard, StreamSummary


class State(Enum):
    """Whether a fact is as the connector needs it."""

    OK = "ok"
    PROBLEM = "problem"
    UNKNOWN = "unknown"

    @property
    def mark(self) -> str:
        """The sign in a report."""
        return {State.OK: "✔", State.PROBLEM: "✘", State.UNKNOWN: "?"}[self]


@dataclass(frozen=True)
class Finding:
    """One fact about a set-up."""

    section: str  # the part of the set-up, such as ``stream``
    subject: str  # the fact, such as ``retention``
    state: State  # whether the fact is as the connector needs it
    seen: str  # what the examination saw, in words. It contains no secret.
    remedy: str = ""  # what to do. Empty if the state is ``OK``.


@dataclass(frozen=True)
class Section:
    """A part of a set-up, about which there are findings."""

    name: str

    def ok(self, subject: str, seen: str) -> Finding:
        """A fact as the connector needs it."""
        return Finding(self.name, subject, State.OK, seen)

    def problem(self, subject: str, seen: str, remedy: str) -> Finding:
        """A fact that prevents something. The remedy says what to do."""
        return Finding(self.name, subject, State.PROBLEM, seen, remedy)

    def unknown(self, subject: str, seen: str, remedy: str = "") -> Finding:
        """A fact that could not be seen. The remedy says how it can be."""
        return Finding(self.name, subject, State.UNKNOWN, seen, remedy)

    def refused(self, subject: str, error: Exception, action: str) -> Finding:
        """The finding for a call that failed, such as that of ``kinesis:ListShards``."""
        if isinstance(error, SparkKinesisError):
            remedy = "Correct this first. The other facts need it."
            return self.problem(subject, str(error), remedy)
        code, seen = code_of(error), f"{action} failed: {text_of(error)}"
        if code in TRANSIENT:
            return self.unknown(subject, seen, "Try again later.")
        remedy = next((it for pattern, it in _REMEDIES.items() if re.search(pattern, code)), "")
        if not remedy and answer_of(error):
            remedy = "Look up the error in the reference of Kinesis."
        return self.problem(subject, seen, (remedy or _UNREACHABLE).format(action=action))


# By patterns of the service's name of the error. The first that matches counts.
_REMEDIES = {
    "KMSAccessDenied": "Allow kms:Decrypt in the policies of the caller and of the key.",
    "KMS": "Make the key of the stream usable in AWS KMS, or name another one.",
    "AccessDenied": "Allow {action} in the policy of the credentials: see docs/how-to/iam.md.",
    "ResourceNotFound": "Check the name, the region, and the account of the credentials.",
    "ExpiredToken": "Renew the credentials, for example with aws sso login.",
    "ParamValidation|InvalidArgument|ValidationException": "Correct the name or the ARN.",
    "UnrecognizedClient|InvalidClientToken|Signature|RequestExpired": "Check the access key, the "
    "secret access key, and the clock of this machine.",
    "Credential|Token|SSO": "Set credentials: see docs/how-to/iam.md.",
}
_UNREACHABLE = "Check the findings of the section network, the endpoint and the region."


def call_errors(*others: type[Exception]) -> tuple[type[Exception], ...]:
    """What a call of AWS raises, and other errors, for a clause ``except``."""
    return *aws_errors(), SparkKinesisError, *others


def text_of(error: Exception) -> str:
    """The service's name and text of an error. Other errors have a text only."""
    found = answer_of(error)
    return f"{found['Code']}: {found.get('Message', '')}" if "Code" in found else str(error)


class Report(tuple[Finding, ...]):
    """The findings of an examination, section by section. ``print`` shows them as text."""

    __slots__ = ()

    @property
    def problems(self) -> list[Finding]:
        """The findings that need a remedy."""
        return [it for it in self if it.state is State.PROBLEM]

    @property
    def is_healthy(self) -> bool:
        """Whether no finding is a problem. Unknown facts do not count."""
        return not self.problems

    def __repr__(self) -> str:
        """The problems with their remedies, then one line for each other finding."""
        lines = []
        for it in sorted(self, key=lambda it: it.state is not State.PROBLEM):
            text = f"{it.state.mark} {it.section}: {it.subject}: {it.seen}"
            if it.state is State.PROBLEM:
                lines += [text, f"  {it.remedy}", ""]
            else:
                lines.append(f"{text}. {it.remedy}" if it.remedy else text)
        unknown = sum(it.state is State.UNKNOWN for it in self)
        total = f"Findings: {len(self)}. Problems: {len(self.problems)}. Unknown: {unknown}."
        return "\n".join([*lines, total])


@dataclass(kw_only=True)
class Setup:
    """What is examined, and what later checks need to know from earlier ones."""

    connection: Connection  # as whom and where AWS is called. A check sets its region.
    stream: str | None = None  # name or ARN of the stream
    checkpoint: str | None = None  # folder or URL of the query's checkpoint
    consumer: str | None = None  # name or ARN of the query's consumer
    uses: tuple[str, ...] = ("read",)  # what the query does: as the argument of ``doctor``
    spark: SparkSession | None = None  # a session to look at; default: the active one
    lead: timedelta = timedelta()  # of the service's clock before ours, if that is wrong
    summary: StreamSummary | None = None  # what Kinesis says about the stream, if it is known
    shards: list[StreamShard] = field(default_factory=list)  # of the stream, if they are known
    has_consumer: bool = False  # whether the consumer of the query exists

    def kinesis(self, stream: str | None = None) -> KinesisClient:
        """A client of Kinesis, in the region of a stream if that is an ARN."""
        return self._in_region_of(stream).kinesis(attempts=_ATTEMPTS)

    def now(self) -> datetime:
        """The time of the service."""
        return utc_now() + self.lead

    def service(self, name: str, stream: str | None = None) -> Any:
        """A client of another service, in the region of a stream."""
        return self._in_region_of(stream).service(name, attempts=_ATTEMPTS)

    @property
    def is_aws(self) -> bool:
        """Whether Kinesis is that of AWS, so that other services know the same account."""
        return is_aws(self.connection.endpoint)

    @property
    def is_local(self) -> bool:
        """Whether Kinesis is on this machine."""
        return is_local(self.connection.endpoint)

    def _in_region_of(self, stream: str | None) -> Connection:
        return replace(self.connection, region=region_of(stream) or self.connection.region)


_ATTEMPTS = 3


def region_of(arn: str | None) -> str | None:
    """The region in an ARN. ``None`` for a name."""
    parts = (arn or "").split(":")
    return parts[3] if parts[0] == "arn" and len(parts) > 3 else None  # noqa: PLR2004
