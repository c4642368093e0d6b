"""Writes records to a stream at a rate: made by a Python function, or recorded by ``tail --json``.

Each record is written at least once: a request is sent again if no answer comes.
"""

from __future__ import annotations

import base64
import json
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spark_kinesis._errors import GeneratorError
from spark_kinesis._retry import put_all
from spark_kinesis._times import from_iso, to_iso, utc_now
from spark_kinesis.tools.facts.records import THROTTLED
from spark_kinesis.tools.facts.streams import stream_request

from .cli import DURATION, Connection, connection_options, print_json, progress_bar

if TYPE_CHECKING:
    from mypy_boto3_kinesis import KinesisClient

__all__ = ["Events", "Written", "at_rate", "generate", "recorded"]

_ATTEMPTS = 10  # of a request without an answer
_PATIENCE_SECONDS = 60.0  # for a record that its shard refuses
_REQUEST_RECORDS, _REQUEST_BYTES = 500, 5 * 1024 * 1024
_REQUEST_SECONDS = 0.1  # records that are due within this time go into one request
_SLACK_SECONDS = 0.1  # by which a delay is caught up
_LONGEST_PAUSE_SECONDS = 0.5
_MOMENT_SECONDS = 1e-6  # too short to wait for

Record = tuple[str, bytes]
"""Partition key and data."""
Make = Callable[[int, random.Random], tuple[str, Any]]
"""Makes a record from its number, counted from 0. Its data is bytes, a text, or becomes JSON."""
Due = Iterator[tuple[float, Record]]
"""Records, each with the seconds after which it is due."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """What was written.

    Attributes:
        records: number of records that Kinesis acknowledged.
        bytes: number of bytes of their data.
        resent: number of times that a record was sent again.
        throttled: number of times that a record was refused because of its shard's quota.
    """

    records: int = 0
    bytes: int = 0
    resent: int = 0
    throttled: int = 0

    def __add__(self, other: Written) -> Written:
        return Written(
            records=self.records + other.records,
            bytes=self.bytes + other.bytes,
            resent=self.resent + other.resent,
            throttled=self.throttled + other.throttled,
        )


def put_records(
    client: KinesisClient,
    stream: str,
    records: Sequence[Record],
    *,
    patience: float = _PATIENCE_SECONDS,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Written:
    """Write records in one request, and again those that were refused, until all are written.

    Records of different keys are independent. If one of several records of a key was refused, it
    comes after the others.

    Args:
        client: client of Kinesis, which makes a call again that has no answer.
        stream: name or ARN.
        records: at most 500, of at most 5 MiB together.
        patience: maximum number of seconds to retry a record.
        now: seconds of a clock that never goes back.
        sleep: waits for a number of seconds.

    Raises:
        GeneratorError: if some records are still refused after this time.
        botocore.exceptions.ClientError: if a call fails.
    """
    found = put_all(
        lambda entries: client.put_records(Records=entries, **stream_request(stream)),
        [{"PartitionKey": key, "Data": data} for key, data in records],
        stream=stream,
        seconds=patience,
        error=GeneratorError,
        now=now,
        sleep=sleep,
    )
    return Written(
        records=len(records),
        bytes=sum(len(data) for _, data in records),
        resent=found.resent,
        throttled=found.refused[THROTTLED],
    )


def generate(
    stream: str,
    records: Due,
    *,
    kinesis: KinesisClient,
    seconds: float = math.inf,
    on_progress: Callable[[Written], None] = lambda _: None,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Written:
    """Write records when they are due. After a delay, catch up a tenth of a second at most.

    Each request is written completely before the next, so the records of a key stay in order if no
    request has two of them.

    Args:
        stream: name or ARN.
        records: the records, such as those of ``at_rate``.
        kinesis: boto3's client of Kinesis, in the region of the stream.
        seconds: time to write for.
        on_progress: called with what was written so far, at least twice per second.
        now: returns seconds of a monotonic clock.
        sleep: waits for a number of seconds.

    Raises:
        GeneratorError: if a record cannot be made, or is not accepted.
        botocore.exceptions.ClientError: if a call fails.
    """
    found, begun, late = Written(), now(), 0.0
    upcoming = next(records, None)
    while upcoming is not None:
        passed = now() - begun
        if passed >= seconds:
            break
        wait = upcoming[0] + late - passed
        if wait > _MOMENT_SECONDS:
            sleep(min(wait, _LONGEST_PAUSE_SECONDS, seconds - passed))
            on_progress(found)
            continue
        late += max(0.0, -wait - _SLACK_SECONDS)
        first, request, size = upcoming[0], list[Record](), 0
        while upcoming is not None and upcoming[0] <= first + _REQUEST_SECONDS:
            key, data = upcoming[1]
            size += len(key.encode()) + len(data)
            if request and (len(request) == _REQUEST_RECORDS or size > _REQUEST_BYTES):
                break
            request.append((key, data))
            upcoming = next(records, None)
        found += put_records(kinesis, stream, request, now=now, sleep=sleep)
        on_progress(found)
    return found


def at_rate(
    make: Make,
    rate: float,
    *,
    shape: str = "steady",
    period: float = 60.0,
    seed: int | None = None,
) -> Due:
    """Records of a function, at a rate.

    Args:
        make: the function.
        rate: records per second on average.
        shape: how the rate changes in each period: ``steady``, ``burst`` (five times the rate for
            a tenth of it) or ``sine`` (from a fifth to 1.8 times the rate).
        period: seconds.
        seed: the same seed gives the function the same random numbers.

    Raises:
        GeneratorError: if the function fails, or returns something else than a record.
    """
    chance = random.Random(seed)  # noqa: S311 made-up records, the same for a seed
    due, number = 0.0, 0
    while True:
        yield due, _made(make, number, chance)
        due += 1 / (rate * SHAPES[shape](due / period % 1))
        number += 1


SHAPES: dict[str, Callable[[float], float]] = {
    "steady": lambda _: 1.0,
    "burst": lambda part: 5.0 if part < 0.1 else 5 / 9,  # noqa: PLR2004 a tenth
    "sine": lambda part: 1 + 0.8 * math.sin(2 * math.pi * part),
}
"""The rate at a part of the period, as a multiple of its mean."""


def recorded(file: str, speed: float = 1.0) -> Due:
    """The rows that ``spark-kinesis tail --json`` has written, with the times between them.

    The records of a shard keep their order, also if their arrival times go back. A row without a
    partition key, as with the record distribution AUTO, gets its sequence number as a key. Explicit
    hash keys are not kept.

    Args:
        file: path of the file.
        speed: how many times as fast as they arrived.

    Raises:
        GeneratorError: names the line that is not such a row.
        OSError: if the file cannot be read.
    """
    found: list[tuple[float, Record]] = []
    newest: dict[str, float] = {}
    for number, text in enumerate(Path(file).read_text(encoding="utf-8").splitlines(), start=1):
        try:
            row = json.loads(text)
            shard, at = row["shard"], from_iso(row["arrived"]).timestamp()
            record = (
                row["partitionKey"] or row["sequenceNumber"],
                base64.b64decode(row["data"], validate=True),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise GeneratorError(
                f"--replay: line {number} of {file} is not a row of `spark-kinesis tail --json`: "
                f"{error!r}"
            ) from None
        newest[shard] = max(newest.get(shard, at), at)
        found.append((newest[shard], record))
    found.sort(key=lambda it: it[0])
    return iter([((at - found[0][0]) / speed, record) for at, record in found])


@dataclass(frozen=True, kw_only=True, slots=True)
class Events:
    """Made-up JSON events, with the keys ``key-0``, ``key-1`` and so on.

    Attributes:
        keys: number of partition keys.
        hot_share: share of the events with ``key-0``, from 0 to 1, beside its equal share.
        size: least number of bytes of an event. Shorter ones are filled up.
    """

    keys: int = 1000
    hot_share: float = 0.0
    size: int = 0

    def __call__(self, number: int, chance: random.Random) -> Record:
        """The event of a number."""
        is_hot = self.hot_share > 0 and chance.random() < self.hot_share
        key = f"key-{0 if is_hot else chance.randrange(self.keys)}"
        event = {
            "id": number,
            "at": to_iso(utc_now()),
            "key": key,
            "value": chance.randint(1, 100),
        }
        data = json.dumps(event)
        if len(data) < self.size:
            data = json.dumps({**event, "filler": "x" * (self.size - len(data))})
        return key, data.encode()


def function_of(place: str) -> Make:
    """The function that a text names.

    Args:
        place: ``module:function``, or ``path/to/file.py:function``.

    Raises:
        GeneratorError: if there is no such function.
    """
    module, _, name = place.rpartition(":")
    try:
        if module.endswith(".py"):
            spec = spec_from_file_location(Path(module).stem, module)
            assert spec is not None  # noqa: S101 the suffix is known
            assert spec.loader is not None  # noqa: S101 the same
            loaded = module_from_spec(spec)
            spec.loader.exec_module(loaded)
        else:
            loaded = import_module(module)
        found = getattr(loaded, name)
    except (ImportError, AttributeError, OSError, ValueError) as error:
        raise GeneratorError(
            f"--records {place} names no function: {error}. Write module:function, or "
            "path/to/file.py:function"
        ) from error
    if not callable(found):
        raise GeneratorError(f"--records {place} is no function, but {found!r}")
    made: Make = found
    return made


def _made(make: Make, number: int, chance: random.Random) -> Record:
    """A record of a function, whose errors name it."""
    name = getattr(make, "__name__", type(make).__name__)
    try:
        key, data = make(number, chance)
    except (Exception, SystemExit) as error:  # no function ends the command as if it were done
        raise GeneratorError(
            f"{name} has not made record {number}, a pair of partition key and data: {error!r}"
        ) from error
    if not isinstance(key, str) or not key:
        raise GeneratorError(f"{name}: the key of record {number} must be a text, not {key!r}")
    if isinstance(data, bytes):
        return key, data
    return key, (data if isinstance(data, str) else json.dumps(data)).encode()


@click.command("generate")
@click.option("--stream", required=True, metavar="NAME|ARN", help="stream to write to")
@click.option(
    "--records",
    metavar="MODULE:FUNCTION",
    help="function that makes a record, of a module or a file (default: JSON events)",
)
@click.option("--replay", metavar="FILE", help="write the rows of `spark-kinesis tail --json`")
@click.option(
    "--rate",
    type=click.FloatRange(0, min_open=True),
    default=100.0,
    show_default=True,
    help="records per second",
)
@click.option(
    "--shape",
    type=click.Choice(list(SHAPES)),
    default="steady",
    show_default=True,
    help="how the rate changes: burst is five times as high for a tenth of each period",
)
@click.option("--period", type=DURATION, default="60s", show_default=True, help="of the shape")
@click.option("--count", type=click.IntRange(1), help="number of records (default: no limit)")
@click.option("--duration", type=DURATION, help="time to write for (default: until Ctrl-C)")
@click.option("--keys", type=click.IntRange(1), default=1000, show_default=True, help="of events")
@click.option(
    "--hot-share",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="share of the events with one hot key",
)
@click.option("--size", type=click.IntRange(0), default=0, help="least bytes of an event")
@click.option("--seed", type=int, help="makes keys and values repeatable (default: random)")
@click.option(
    "--speed",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="of a replay: times as fast as the records arrived",
)
@click.option("--json", "as_json", is_flag=True, help="print the summary as JSON")
@connection_options
@click.pass_context
def command(
    context: click.Context,
    connection: Connection,
    *,
    stream: str,
    records: str | None,
    replay: str | None,
    rate: float,
    shape: str,
    period: timedelta,
    count: int | None,
    duration: timedelta | None,
    keys: int,
    hot_share: float,
    size: int,
    seed: int | None,
    speed: float,
    as_json: bool,
) -> int:
    """Write records to a stream, at a rate.

    By default, they are made-up JSON events. --records names a function of your own. It gets the
    number of the record and a random.Random, and returns a partition key and the data: bytes, a
    text, or anything that json.dumps takes.

    \b
    Examples:
      spark-kinesis generate --stream orders --rate 500 --duration 1m
      spark-kinesis generate --stream orders --records orders.py:order --count 1000 --json
      spark-kinesis generate --stream orders --replay orders.jsonl --speed 10

    Exit codes: 0 when the records are written or after Ctrl-C, 2 an error.
    """
    _check(context, is_replay=replay is not None)
    if replay is None:
        make = Events(keys=keys, hot_share=hot_share, size=size)
        chosen = make if records is None else function_of(records)
        due = at_rate(chosen, rate, shape=shape, period=period.total_seconds(), seed=seed)
    else:
        due = recorded(replay, speed)
    seconds = math.inf if duration is None else duration.total_seconds()
    client, begun, latest = connection.kinesis(attempts=_ATTEMPTS), time.monotonic(), Written()
    with progress_bar() as bar:
        task = bar.add_task("writing", total=count)

        def show(written: Written) -> None:
            nonlocal latest
            latest = written
            bar.update(task, completed=written.records)

        try:
            limited = due if count is None else islice(due, count)
            generate(stream, limited, kinesis=client, seconds=seconds, on_progress=show)
        except KeyboardInterrupt:
            pass  # the normal end without a limit
        finally:
            _show(stream, latest, time.monotonic() - begun, as_json=as_json)
    return 0


def _check(context: click.Context, *, is_replay: bool) -> None:
    """Refuse options that have no effect."""
    made = ("records", "rate", "shape", "period", "keys", "hot_share", "size", "seed")
    for name in made if is_replay else ("speed",):
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            option = name.replace("_", "-")
            words = "excludes --replay" if is_replay else "needs --replay"
            raise click.UsageError(f"--{option} {words}")


def _show(stream: str, written: Written, seconds: float, *, as_json: bool) -> None:
    if as_json:
        counts = {name: getattr(written, name) for name in Written.__slots__}
        print_json({"stream": stream, **counts, "seconds": round(seconds, 3)})
        return
    again = f", {written.resent:,} sent again" if written.resent else ""
    refused = f", {written.throttled:,} refused by the quota" if written.throttled else ""
    rate = written.records / seconds if seconds else 0.0
    click.echo(
        f"{stream}: {written.records:,} records written in {seconds:.1f} s, {rate:,.0f}/s, "
        f"{written.bytes / 1e6:,.1f} MB{again}{refused}"
    )
