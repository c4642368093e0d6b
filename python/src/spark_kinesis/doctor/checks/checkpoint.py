"""The check of a checkpoint."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spark_kinesis import SparkKinesisError
from spark_kinesis._boto import is_from_aws
from spark_kinesis.doctor.checkpoints import log_findings, look_at, read_log, stream_findings
from spark_kinesis.doctor.finding import Finding, problem
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.facts.files import Store, open_files, shown

from .base import Say, stopped

if TYPE_CHECKING:
    from spark_kinesis.doctor.checkpoints import LogFacts
    from spark_kinesis.doctor.question import Question


def checkpoint_check(question: Question, say: Say) -> list[Finding]:
    """The log, and each of its streams."""
    location, access = question.checkpoint or "", question.access
    try:
        store = Store(
            user="spark-kinesis doctor",
            region=access.region,
            profile=access.profile,
            settings=access.settings,
            options=access.storage,
        )
        log = read_log(Checkpoint(open_files(location, store)))
    except SparkKinesisError as error:
        return [_unreadable(str(error))]
    except Exception as error:
        # No permission, a damaged file, or credentials that cannot be loaded.
        if not isinstance(error, (OSError, ValueError)) and not is_from_aws(error):
            raise
        return [_unreadable(shown(f"the checkpoint {location} cannot be read: {error}"))]
    findings = log_findings(log, question.stream, question.access.clock.now())
    for source, arn in log.streams:
        findings += _of_stream(question, log, (source, arn), say)
    return findings


def _unreadable(seen: str) -> Finding:
    remedy = "Check the location and its permissions, or see docs/how-to/restart.md."
    return problem("checkpoint", "log", seen, remedy)


def _of_stream(
    question: Question, log: LogFacts, place: tuple[str, str], say: Say
) -> list[Finding]:
    source, arn = place

    def on_shard(shard: str) -> None:
        say(f"checkpoint: {shard}")

    try:
        client = question.access.kinesis(arn)
    except SparkKinesisError as error:
        return [stopped("checkpoint", "streams", error)]
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 optional

    try:
        facts = look_at(client, arn, log.streams[place], on_shard)
    except (BotoCoreError, ClientError) as error:
        return [stopped("checkpoint", "streams", error)]
    if log.has_several_sources:
        facts = replace(facts, source=source)
    return stream_findings(facts, question.access.clock.now())
