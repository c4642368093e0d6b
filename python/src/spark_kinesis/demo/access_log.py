"""Lines of a web server's log, generated and parsed."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timezone

# This pattern works in Python and in Spark. Its groups:
# 1 client, 2 time, 3 page, 4 number of the client's request, 5 status, 6 size.
LINE = r'^(\S+) - - \[([^\]]+)\] "GET (\S+)\?request=(\d+) HTTP/1\.1" (\d{3}) (\d+)$'
TIME = "%d/%b/%Y:%H:%M:%S +0000"

CLIENTS = tuple(f"10.0.{number // 10}.{number % 10}" for number in range(50))
PAGES = ("/", "/cart", "/search", "/item/42", "/login")
STATUSES, WEIGHTS = (200, 301, 404, 500), (88, 5, 6, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request to the web server. The requests of a client have the numbers 1, 2, 3, ..."""

    client: str
    time: datetime
    page: str
    number: int
    status: int
    size: int

    def line(self) -> str:
        """The line of the request in the log."""
        at = self.time.astimezone(timezone.utc).strftime(TIME)
        url = f"{self.page}?request={self.number}"
        return f'{self.client} - - [{at}] "GET {url} HTTP/1.1" {self.status} {self.size}'


def parse(line: str) -> Request:
    """Parse a line.

    Raises:
        ValueError: names the line, if it has another form.
    """
    found = re.fullmatch(LINE, line)
    if found is None:
        raise ValueError(f"not a line of this log: {line!r}")
    client, time, page, number, status, size = found.groups()
    return Request(
        client=client,
        time=datetime.strptime(time, TIME).replace(tzinfo=timezone.utc),
        page=page,
        number=int(number),
        status=int(status),
        size=int(size),
    )


class Visitors:
    """The clients. In each round, every client requests a page."""

    def __init__(self, chance: random.Random) -> None:
        """No requests yet."""
        self._chance = chance
        self._asked: Counter[str] = Counter()

    def ask(self, now: datetime) -> list[Request]:
        """The next round: a request of each client."""
        self._asked.update(CLIENTS)
        return [
            Request(
                client=client,
                time=now,
                page=self._chance.choice(PAGES),
                number=self._asked[client],
                status=self._chance.choices(STATUSES, WEIGHTS)[0],
                size=self._chance.randrange(200, 9000),
            )
            for client in CLIENTS
        ]
