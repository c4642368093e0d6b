"""The command ``spark-kinesis doctor``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from spark_kinesis.tools.cli import (
    Connection,
    connection_options,
    json_option,
    print_json,
    progress_bar,
    screen,
    storage_option,
)

from . import Finding, Report, State, Step, doctor

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {State.OK: "green", State.PROBLEM: "bold red", State.UNKNOWN: "yellow"}


@click.command("doctor")
@click.option("--stream", metavar="NAME|ARN", help="stream of the query (default: none)")
@click.option("--checkpoint", metavar="PATH", help="checkpoint of the query: a path or an s3: URL")
@click.option("--consumer", metavar="NAME|ARN", help="consumer of a query with enhanced fan-out")
@click.option(
    "--use",
    "uses",
    type=click.Choice(["read", "write", "exactly-once"]),
    multiple=True,
    default=("read",),
    help="what the query does, for the permissions; may be repeated (default: read)",
)
@click.option(
    "--probe",
    is_flag=True,
    help="without CloudWatch, read one shard five times at once to see what others use",
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

    It changes nothing, and shows no secret. It asks AWS STS for the caller, and sends three empty
    requests to the endpoint to measure the round trip. For a stream it calls
    DescribeStreamSummary, ListShards and ListStreamConsumers, reads one record, and asks
    CloudWatch, the policy simulator of IAM, and KMS, if the caller may. For a checkpoint it reads
    one record of each shard, of at most 100 shards. Each read is one of the five reads per second
    of its shard.

    Exit codes: 0 without a problem, 1 with one, 2 after an error.
    """
    with progress_bar() as bar:
        task = bar.add_task("")

        def on_step(step: Step) -> None:
            bar.update(task, description=step.text, total=step.of, completed=step.number - 1)

        report = doctor(
            **asked,
            endpoint=connection.endpoint,
            region=connection.region,
            profile=connection.profile,
            storage=connection.storage,
            settings=connection.settings,
            on_step=on_step,
        )
    if as_json:
        print_json({"healthy": report.is_healthy, "findings": list(report)})
    else:
        show(report, screen())
    return 0 if report.is_healthy else 1


def show(report: Report, console: Console) -> None:
    """Print the findings: remedies first, then a table. Without a terminal, one line each."""
    if not console.is_terminal:
        console.print(repr(report), markup=False)
        return
    for it in report.problems:
        console.print(f"{_mark(it)} {escape(it.seen)}")
        console.print(Padding(f"[bold]{escape(it.remedy)}[/bold]", (0, 0, 1, 2)))
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("", "Section", "Subject", "Seen"):
        table.add_column(name, overflow="fold")
    for it in report:
        seen = escape("\n".join([it.text, *it.details]))
        table.add_row(_mark(it), escape(it.section), escape(it.subject), seen)
    console.print(table)
    console.print(f"\n{report.verdict}")


def _mark(it: Finding) -> str:
    style = _STYLES[it.state]
    return f"[{style}]{it.state.mark}[/{style}]"
