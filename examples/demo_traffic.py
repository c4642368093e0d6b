"""The demo's two ends, both with boto3 alone: a web server's log, and a reader of the counts."""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import threading

    from demo_tally import Tally

HOSTS = tuple(f"10.0.0.{number}" for number in range(1, 41))
PAGES = ("/", "/cart", "/search", "/item/42", "/login")
STATUSES, WEIGHTS = ("200", "301", "404", "500"), (90, 4, 5, 1)
PERIOD_SECONDS = 0.2  # 40 hosts, 5 times a second: 200 lines/s


def write_lines(client: Any, stream: str, tally: Tally, quiet: threading.Event) -> None:
    """A line of every host, again and again, until told to be quiet.

    A request holds each host once and is complete before the next, so that each host's lines are
    in the stream in the order of its visits even where one had to be sent again.
    """
    chance = random.Random(7)  # noqa: S311 made-up traffic, the same every time
    visits: Counter[str] = Counter()
    while not quiet.wait(PERIOD_SECONDS):
        visits.update(HOSTS)
        tally.wrote([(host, visits[host]) for host in HOSTS])
        left = [{"PartitionKey": host, "Data": line(host, visits[host], chance)} for host in HOSTS]
        while left:
            answers = client.put_records(StreamName=stream, Records=left)["Records"]
            left = [e for e, a in zip(left, answers, strict=True) if "ErrorCode" in a]
            if left:
                quiet.wait(PERIOD_SECONDS)


def line(host: str, visit: int, chance: random.Random) -> bytes:
    """A line in the common log format."""
    at = datetime.now(timezone.utc).strftime("%d/%b/%Y:%H:%M:%S +0000")
    page, (status,) = chance.choice(PAGES), chance.choices(STATUSES, WEIGHTS)
    size = chance.randrange(200, 9000)
    return f'{host} - - [{at}] "GET {page}?visit={visit} HTTP/1.1" {status} {size}'.encode()


def read_counts(client: Any, stream: str, tally: Tally, done: threading.Event) -> None:
    """Book every record of the second stream, which has one shard."""
    (shard,) = client.list_shards(StreamName=stream)["Shards"]
    iterator = client.get_shard_iterator(
        StreamName=stream, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
    )["ShardIterator"]
    while not done.wait(0.25):
        page = client.get_records(ShardIterator=iterator)
        iterator = page["NextShardIterator"]
        for record in page["Records"]:
            tally.counted(record["Data"])
