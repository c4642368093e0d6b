"""Writes records to a stream at a rate: made by a Python function, or recorded by ``tail --json``.

Each record is written at least once: a request is sent again if no answer comes.
"""

from __future__ import annotations

import base64
import json
import math
import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import count, islice
from pathlib import Path
from pkgutil import resolve_name
from runpy import run_path
from typing import TYPE_CHECKING, Any

import click

from spark_kinesis._errors import GeneratorError
from spark_kinesis._retry import REQUEST_RECORDS, put_all
from spark_kinesis._times import to_iso, utc_now
from spark_kinesis.tools.facts.streams import stream_request

from .cli import DURATION, Connection, connection_options, progress_bar

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

__all__ = ["Written", "event", "generate", "made", "recorded"]

_ATTEMPTS = 10  # of a request without an answer
_PATIENCE_SECONDS = 60.0  # for a record that its shard refuses
_REQUEST_SECONDS = 0.1  # records that are due within this time go into one request
_SLACK_SECONDS = 0.1  # by which a delay is caught up
_LONGEST_PAUSE_SECONDS = 0.5
_MOMENT_SECONDS = 1e-6  # too short to wait for

Record = tuple[str, bytes]
"""Partition key and data."""
Make = Callable[[int], tuple[str, Any]]
"""Makes a record from its number, counted from 0. Its data is bytes, a text, or becomes JSON."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """What was written."""

    records: int = 0  # number of records that Kinesis acknowledged
    bytes: int = 0  # number of bytes of their data
    resent: int = 0  # number of times that a record was sent again


def generate(
    stream: str,
    records: Iterable[Record],
    *,
    kinesis: KinesisClient,
    rate: float,
    seconds: float = math.inf,
    on_progress: Callable[[Written], None] = lambda _: None,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Written:
    """Write records at a rate. After a delay, catch up a tenth of a second at most.

    Each request is written completely before the next, so the records of a key stay in order if no
    request has two of them.

    Args:
        stream: name or ARN.
        records: the records, such as those of ``made``.
        kinesis: boto3's client of Kinesis, in the region of the stream.
        rate: records per second.
        seconds: time to write for; default: until there are no more records.
        on_progress: called with what was written so far, at least twice per second.
        now: returns seconds of a monotonic clock.
        sleep: waits for a number of seconds.

    Raises:
        GeneratorError: if a record cannot be made, or is not accepted within a minute.
        botocore.exceptions.ClientError: if a call fails.
    """
    found, begun, late = Written(), now(), 0.0
    upcoming = iter(records)
    record = next(upcoming, None)
    while record is not None:
        due, passed = found.records / rate, now() - begun
        if passed >= seconds:
            break
        wait = due + late - passed
        if wait > _MOMENT_SECONDS:
            sleep(min(wait, _LONGEST_PAUSE_SECONDS, seconds - passed))
            on_progress(found)
            continue
        late += max(0.0, -wait - _SLACK_SECONDS)
        request = list[Record]()
        most = min(int(rate * _REQUEST_SECONDS) + 1, REQUEST_RECORDS)
        while record is not None and len(request) < most:
            request.append(record)
            record = next(upcoming, None)
        put = put_all(
            lambda entries: kinesis.put_records(Records=entries, **stream_request(stream)),
            [{"PartitionKey": key, "Data": data} for key, data in request],
            stream=stream,
            seconds=_PATIENCE_SECONDS,
            error=GeneratorError,
            now=now,
            sleep=sleep,
        )
        found = Written(
            records=found.records + len(request),
            bytes=found.bytes + sum(len(data) for _, data in request),
            resent=found.resent + put.resent,
        )
        on_progress(found)
    return found


def made(make: Make) -> Iterator[Record]:
    """The records of a function, without an end.

    Raises:
        GeneratorError: if the function fails, or returns something else than a record.
    """
    name = getattr(make, "__name__", type(make).__name__)
    for number in count():
        try:
            key, data = make(number)
        except (Exception, SystemExit) as error:  # no function ends the command as if it were done
            raise GeneratorError(
                f"{name} has not made record {number}, a pair of partition key and data: {error!r}"
            ) from error
        if not isinstance(key, str) or not key:
            raise GeneratorError(f"{name}: the key of record {number} must be a text, not {key!r}")
        if not isinstance(data, bytes):
            data = (data if isinstance(data, str) else json.dumps(data)).encode()
        yield key, data


def event(number: int) -> tuple[str, Any]:
    """A JSON event with one of the keys ``key-0`` to ``key-999``, chosen by chance."""
    key = f"key-{random.randrange(1000)}"  # noqa: S311 made-up records
    value = random.randint(1, 100)  # noqa: S311
    return key, {"id": number, "at": to_iso(utc_now()), "key": key, "value": value}


def recorded(file: str) -> Iterator[Record]:
    """The rows that ``spark-kinesis tail --json`` has written, in the order of the file.

    A row without a partition key, as with the record distribution AUTO, gets its sequence number as
    a key. Explicit hash keys are not kept.

    Args:
        file: path of the file.

    Raises:
        GeneratorError: names the line that is not such a row.
        OSError: if the file cannot be read.
    """
    with Path(file).open(encoding="utf-8") as lines:
        for number, text in enumerate(lines, start=1):
            try:
                row = json.loads(text)
                data = base64.b64decode(row["data"], validate=True)
                yield row["key"] or row["sequence"], data
            except (ValueError, KeyError, TypeError) as error:  # noqa: PERF203 names the line
                raise GeneratorError(
                    f"--replay: line {number} of {file} is not a row of `spark-kinesis tail "
                    f"--json`: {error!r}"
                ) from None


def function_of(place: str) -> Make:
    """The function that a text names: ``module:function``, or ``path/to/file.py:function``.

    Raises:
        GeneratorError: if there is no such function.
    """
    module, _, name = place.rpartition(":")
    try:
        found = run_path(module)[name] if module.endswith(".py") else resolve_name(place)
    except (ImportError, AttributeError, KeyError, OSError, ValueError, SystemExit) as error:
        raise GeneratorError(
            f"--records {place} names no function: {error!r}. Write module:function, or "
            "path/to/file.py:function"
        ) from error
    if not callable(found):
        raise GeneratorError(f"--records {place} is no function, but {found!r}")
    made: Make = found
    return made


@click.command("generate")
@click.option("--stream", required=True, metavar="NAME|ARN", help="stream to write to")
@click.option(
    "--records",
    metavar="MODULE:FUNCTION",
    help="function that makes a record, of a module or a file (default: JSON events)",
)
@click.option(
    "--replay",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="write the rows of `spark-kinesis tail --json`",
)
@click.option(
    "--rate",
    type=click.FloatRange(0, min_open=True),
    default=100.0,
    show_default=True,
    help="records per second",
)
@click.option("--count", "most", type=click.IntRange(1), help="number of records (default: all)")
@click.option("--duration", type=DURATION, help="time to write for (default: until Ctrl-C)")
@connection_options
def command(
    connection: Connection,
    *,
    stream: str,
    records: str | None,
    replay: str | None,
    rate: float,
    most: int | None,
    duration: timedelta | None,
) -> int:
    """Write records to a stream, at a rate.

    By default, they are made-up JSON events. --records names a function of your own. It gets the
    number of the record, counted from 0, and returns a partition key and the data: bytes, a text,
    or anything that json.dumps takes.

    \b
    Examples:
      spark-kinesis generate --stream orders --rate 500 --duration 1m
      spark-kinesis generate --stream orders --records orders.py:order --count 1000
      spark-kinesis generate --stream orders --replay orders.jsonl

    Exit codes: 0 when the records are written or after Ctrl-C, 2 an error.
    """
    if records is not None and replay is not None:
        raise click.UsageError("--records excludes --replay")
    make = event if records is None else function_of(records)
    chosen = made(make) if replay is None else recorded(replay)
    client, begun, latest = connection.kinesis(attempts=_ATTEMPTS), time.monotonic(), Written()
    with progress_bar() as bar:
        task = bar.add_task("writing", total=most)

        def show(written: Written) -> None:
            nonlocal latest
            latest = written
            bar.update(task, completed=written.records)

        try:
            generate(
                stream,
                islice(chosen, most),
                kinesis=client,
                rate=rate,
                seconds=math.inf if duration is None else duration.total_seconds(),
                on_progress=show,
            )
        except KeyboardInterrupt:
            pass  # the normal end without a limit
        finally:
            seconds = time.monotonic() - begun
            again = f", {latest.resent:,} sent again" if latest.resent else ""
            click.echo(
                f"{stream}: {latest.records:,} records written in {seconds:.1f} s, "
                f"{latest.bytes / 1e6:,.1f} MB{again}"
            )
    return 0
