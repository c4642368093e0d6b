"""What a local Kinesis can do and AWS cannot: requests to its own interface, faults, statistics."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import Any, Literal, final
from urllib.parse import urlsplit

from spark_kinesis._errors import LocalKinesisError

_TIMEOUT_SECONDS = 30.0

FaultName = Literal[
    "throttle",
    "internal-failure",
    "unavailable",
    "stall",
    "reset",
    "answer-lost",
    "truncate",
    "expired-iterator",
    "expired-token",
    "access-denied",
    "empty-page",
    "partial-put",
    "wrong-shard",
    "recreate-stream",
    "limit-exceeded",
    "kms-throttled",
    "drop-subscription",
    "truncate-event",
]


@final
class Fault(AbstractContextManager["Fault"]):
    """A fault. It makes calls fail until it is used up or removed; the end of ``with`` removes it.

    Attributes:
        id: number of the fault on the server.
        name: what goes wrong.
    """

    def __init__(self, endpoint: str, number: int, name: FaultName) -> None:
        """Create faults with ``fault()`` of a local Kinesis."""
        self._endpoint = endpoint
        self.id = number
        self.name = name

    def __repr__(self) -> str:
        return f"<Fault {self.id} {self.name}>"

    @property
    def struck(self) -> int:
        """The number of calls that the fault has made fail so far.

        Raises:
            LocalKinesisError: if the fault has been removed.
        """
        found = self._found()
        if found is None:
            raise LocalKinesisError(f"fault {self.id} ({self.name}) has been removed")
        return int(found["struck"])

    def remove(self) -> None:
        """Remove the fault. It may be removed already."""
        if self._found() is not None:
            admin(self._endpoint, "DELETE", f"faults/{self.id}")

    def _found(self) -> dict[str, Any] | None:
        faults = admin(self._endpoint, "GET", "faults")["faults"]
        return next((it for it in faults if it["id"] == self.id), None)

    def __exit__(self, *_: object) -> None:
        """Remove the fault."""
        self.remove()


@dataclass(frozen=True, kw_only=True, slots=True)
class Stats:
    """Counts since the start, or since the last ``reset_stats()``."""

    calls: Mapping[str, int]  # by operation, refused calls included
    # Refused calls by operation and error code, such as
    # ``refused["GetRecords"]["ProvisionedThroughputExceededException"]``.
    refused: Mapping[str, Mapping[str, int]]
    records_put: int  # number of records written
    bytes_put: int  # their bytes, partition keys included
    records_read: int  # number of records in answers
    bytes_read: int  # their bytes
    entries_failed: int  # entries of ``PutRecords`` refused in calls that succeeded


def stats(endpoint: str) -> Stats:
    """The statistics now."""
    answer = admin(endpoint, "GET", "stats")
    return Stats(
        calls=answer["calls"],
        refused=answer["refused"],
        records_put=answer["recordsPut"],
        bytes_put=answer["bytesPut"],
        records_read=answer["recordsRead"],
        bytes_read=answer["bytesRead"],
        entries_failed=answer["entriesFailed"],
    )


def admin(
    endpoint: str, method: Literal["GET", "POST", "DELETE"], path: str, body: object = None
) -> dict[str, Any]:
    """Call the server's own interface, which boto3 does not know.

    Raises:
        LocalKinesisError: if the server refuses the call, or does not answer within 30 s.
    """
    asked = f"{method} /_simulator/{path}"
    sent = None if body is None else json.dumps(body)
    headers = {"Content-Type": "application/json"}
    connection = HTTPConnection(urlsplit(endpoint).netloc, timeout=_TIMEOUT_SECONDS)
    try:
        connection.request(method, f"/_simulator/{path}", sent, headers)
        response = connection.getresponse()
        answer: dict[str, Any] = json.loads(response.read() or b"{}")
    except (OSError, HTTPException, ValueError) as error:
        raise LocalKinesisError(f"{asked}: no answer from {endpoint}: {error!r}") from error
    finally:
        connection.close()
    if response.status != HTTPStatus.OK:
        raise LocalKinesisError(f"{asked}: HTTP {response.status}: {answer.get('error', answer)}")
    return answer
