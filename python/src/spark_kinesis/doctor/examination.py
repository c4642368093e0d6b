"""Examines a set-up: runs the checks, and collects their findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from spark_kinesis._boto import CallSettings

from .aws import Access
from .checks import Check, checks_for
from .permissions import uses_of
from .question import Question
from .report import Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

    from .finding import Finding


UseWord = Literal["read", "write", "exactly-once"]


@dataclass(frozen=True, kw_only=True)
class Step:
    """How far an examination is.

    Attributes:
        number: number of the check that runs, from 1.
        of: number of checks.
        text: what it does.
    """

    number: int
    of: int
    text: str


def examine(
    stream: str | None = None,
    *,
    checkpoint: str | None = None,
    consumer: str | None = None,
    uses: Sequence[UseWord] = ("read",),
    probe: bool = False,
    endpoint: str | None = None,
    region: str | None = None,
    profile: str | None = None,
    storage: Mapping[str, str] | None = None,
    settings: CallSettings | None = None,
    spark: SparkSession | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> Report:
    """Examine a set-up, and say what is wrong and what to do. It changes nothing.

    Args:
        stream: name or ARN of a stream. Default: everything except a stream.
        checkpoint: folder of a query's checkpoint: a path, a ``file:`` URL, or an ``s3:`` URL.
        consumer: name or ARN of the consumer of a query with enhanced fan-out.
        uses: what the query does with the stream: ``read``, ``write``, and ``exactly-once`` for a
            sink with exactly-once delivery; default: it reads. A permission that is missing for
            something else is no problem.
        probe: if Amazon CloudWatch does not answer, find out how much of the read quota others
            use: read one shard five times at once. Another reader may be refused meanwhile.
            Default: false.
        endpoint: URL of Kinesis; default: that of AWS.
        region: AWS region; default: that of the stream's ARN, else from the AWS SDK.
        profile: profile of the AWS configuration files; default: the AWS SDK's provider chain.
        storage: options of the store of the checkpoint, such as ``endpoint_url`` of an S3 server.
        settings: role, proxy and certificates; default: those of the AWS SDK.
        spark: a Spark session; default: the active one of this process.
        on_step: called at the start of each check, to show the progress.

    Returns:
        The findings. A problem of the set-up is a finding and never an exception.

    Raises:
        ValueError: for another word in ``uses``.
    """
    uses_of(uses, has_consumer=False)  # refuses other words before anything is called
    question = Question(
        stream=stream,
        checkpoint=checkpoint,
        consumer=consumer,
        uses=tuple(uses),
        may_probe=probe,
        access=Access(
            endpoint=endpoint,
            region=region,
            profile=profile,
            storage=dict(storage or {}),
            settings=settings or CallSettings(),
        ),
        spark=spark,
    )
    findings = list(_findings(question, checks_for(question), on_step))
    sections = list(dict.fromkeys(it.section for it in findings))
    return Report(sorted(findings, key=lambda it: sections.index(it.section)))


def _findings(
    question: Question, checks: list[Check], on_step: Callable[[Step], None] | None
) -> Iterator[Finding]:
    for number, check in enumerate(checks, 1):

        def say(text: str, number: int = number) -> None:
            if on_step is not None:
                on_step(Step(number=number, of=len(checks), text=text))

        say(check.text)
        yield from check.run(question, say)
