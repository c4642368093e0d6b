"""Examines a set-up from the inside out, and says what to do about each problem.

The command is ``doctor``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import click

from spark_kinesis._boto import CallSettings
from spark_kinesis.tools.cli import (
    Connection,
    connection_options,
    json_option,
    print_json,
    progress_bar,
    storage_option,
)

from .access import access_check
from .checkpoint import checkpoint_check
from .finding import Finding, Report, Setup, State
from .network import network_check
from .permissions import permission_check, uses_of
from .software import software_check
from .stream import quota_check, stream_check

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Finding", "Report", "State", "doctor"]

UseWord = Literal["read", "write", "exactly-once"]
_SECONDS = 10.0


def doctor(
    stream: str | None = None,
    *,
    checkpoint: str | None = None,
    consumer: str | None = None,
    uses: Sequence[UseWord] = ("read",),
    endpoint: str | None = None,
    region: str | None = None,
    profile: str | None = None,
    role_arn: str | None = None,
    external_id: str | None = None,
    proxy: str | None = None,
    ca_bundle: str | None = None,
    storage: Mapping[str, str] | None = None,
    spark: SparkSession | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Report:
    """Examine a set-up, and say what is wrong and what to do. It changes nothing.

    Args:
        stream: name or ARN of a stream. Default: everything except a stream.
        checkpoint: folder of a query's checkpoint: a path or a URL, such as an ``s3:`` URL.
        consumer: name or ARN of the consumer of a query with enhanced fan-out.
        uses: what the query does with the stream: ``read``, ``write``, and ``exactly-once`` for a
            sink with exactly-once delivery; default: it reads. A permission that is missing for
            something else is no problem.
        endpoint: URL of Kinesis; default: that of AWS.
        region: AWS region; default: that of the stream's ARN, else from the AWS SDK.
        profile: profile of the AWS configuration files; default: the AWS SDK's provider chain.
        role_arn: ARN of a role to assume; default: none.
        external_id: ID that the owner of the role requires.
        proxy: URL of an HTTP proxy; default: that of the environment.
        ca_bundle: file of the certificates to trust; default: those of the AWS SDK.
        storage: options of the store of the checkpoint, such as ``endpoint_url`` of an S3 server.
        spark: a Spark session; default: the active one of this process.
        on_step: called with the name of each check before it runs.

    Returns:
        The findings. A problem of the set-up is a finding and never an exception.

    Raises:
        ValueError: for another word in ``uses``.
        SparkKinesisError: for a wrong URL in ``proxy``.
    """
    uses_of(uses, has_consumer=False)  # refuses other words before anything is called
    connection = Connection(
        command="doctor",
        endpoint=endpoint,
        region=region,
        profile=profile,
        settings=CallSettings(
            role_arn=role_arn, external_id=external_id, proxy=proxy, ca_bundle=ca_bundle
        ),
        storage=dict(storage or {}),
    )
    setup = Setup(
        connection=connection,
        stream=stream,
        checkpoint=checkpoint,
        consumer=consumer,
        uses=tuple(uses),
        spark=spark,
    )
    return _examine(setup, on_step)


def _examine(setup: Setup, on_step: Callable[[str], None]) -> Report:
    """Make the checks in the order in which a set-up works."""
    setup.connection = replace(setup.connection, timeout=_SECONDS)
    checks: dict[str, Callable[[Setup], Iterable[Finding]]] = {
        "software": software_check,
        "access": access_check,
        "network": network_check,
    }
    if setup.stream is not None:
        checks |= {"stream": stream_check, "quota": quota_check, "permissions": permission_check}
    if setup.checkpoint is not None:
        checks["checkpoint"] = checkpoint_check
    found: list[Finding] = []
    for name, check in checks.items():
        on_step(name)
        found += check(setup)
    return Report(found)


@click.command("doctor")
@click.option("--stream", metavar="NAME|ARN", help="stream of the query (default: none)")
@click.option("--checkpoint", metavar="PATH", help="checkpoint of the query: a folder or a URL")
@click.option("--consumer", metavar="NAME|ARN", help="consumer of a query with enhanced fan-out")
@click.option(
    "--use",
    "uses",
    type=click.Choice(["read", "write", "exactly-once"]),
    multiple=True,
    default=("read",),
    help="what the query does, for the permissions; may be repeated (default: read)",
)
@json_option
@storage_option
@connection_options
def command(connection: Connection, as_json: bool, **asked: Any) -> int:
    """Examine a set-up, and say what to do about each problem.

    \b
    Examples:
      spark-kinesis doctor
      spark-kinesis doctor --stream orders --checkpoint s3://bucket/checkpoints/orders

    It examines the software, region and credentials, the network, and what you name: a stream with
    its read quota and your permissions, and the checkpoint of a query. ✔ is a fact as the connector
    needs it, ✘ is a problem, and ? could not be seen.

    It changes nothing, and shows no secret. It asks AWS STS for the caller, and sends a request
    without credentials to the endpoint. For a stream it calls DescribeStreamSummary and ListShards,
    reads one record, and asks CloudWatch, if the caller may. For a checkpoint it reads one record
    of each shard, of at most 100 shards. Each read is one of the five per second of its shard.

    Exit codes: 0 without a problem, 1 with one, 2 an error.
    """
    with progress_bar() as bar:
        task = bar.add_task("", total=None)
        setup = Setup(connection=connection, **asked)
        report = _examine(setup, lambda name: bar.update(task, description=name))
    if as_json:
        print_json({"healthy": report.is_healthy, "findings": list(report)})
    else:
        click.echo(repr(report))
    return 0 if report.is_healthy else 1
