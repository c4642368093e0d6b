"""Examines a set-up from the inside out, and says what to do about each problem.

The command is ``doctor``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from spark_kinesis._boto import CallSettings
from spark_kinesis.tools.cli import Connection
from spark_kinesis.tools.facts.files import shown

from .access import access_check
from .checkpoint import checkpoint_check
from .finding import Finding, Report, State
from .network import network_check
from .permissions import permission_check, uses_of
from .quota import quota_check
from .setup import Setup
from .software import software_check
from .stream import stream_check

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Finding", "Report", "State", "Step", "doctor"]

Check = tuple[str, Callable[[Setup], list[Finding]]]
UseWord = Literal["read", "write", "exactly-once"]
_SECONDS = 10.0


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


def doctor(
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
        checkpoint: folder of a query's checkpoint: a path or a URL, such as an ``s3:`` URL.
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
    connection = Connection(
        command="doctor",
        endpoint=endpoint,
        region=region,
        profile=profile,
        settings=settings or CallSettings(),
        storage=dict(storage or {}),
        timeout=_SECONDS,
    )
    setup = Setup(
        connection=connection,
        stream=stream,
        checkpoint=checkpoint,
        consumer=consumer,
        uses=tuple(uses),
        may_probe=probe,
        spark=spark,
    )
    found: list[Finding] = []
    checks = _checks(setup)
    for number, (text, check) in enumerate(checks, 1):

        def say(text: str, number: int = number) -> None:
            if on_step is not None:
                on_step(Step(number=number, of=len(checks), text=text))

        setup.say = say
        say(text)
        found += check(setup)
    sections = list(dict.fromkeys(it.section for it in found))
    return Report(sorted(found, key=lambda it: sections.index(it.section)))


def _checks(setup: Setup) -> list[Check]:
    """What is checked, in the order in which a set-up works: software first, checkpoint last."""
    checks: list[Check] = [
        ("software", software_check),
        ("region and credentials", access_check),
        ("network", network_check),
    ]
    if setup.stream is not None:
        checks += [
            (f"stream {setup.stream}", stream_check),
            ("read quota", quota_check),  # before the checks that read records themselves
            ("permissions", permission_check),
        ]
    if setup.checkpoint is not None:
        checks.append((shown(f"checkpoint {setup.checkpoint}"), checkpoint_check))
    return checks
