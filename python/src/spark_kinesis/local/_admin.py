"""What a local Kinesis can do and AWS cannot: requests to its own interface, faults, statistics."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from types import TracebackType
from typing import Any, Literal, final
from urllib.parse import urlsplit

from spark_kinesis._errors import KinesisRefusedError, NoAnswerError

from ._calls import TIMEOUT_SECONDS

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
class Fault:
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
            KinesisRefusedError: if the fault has been removed.
        """
        for found in admin(self._endpoint, "GET", "faults")["faults"]:
            if found["id"] == self.id:
                return int(found["struck"])
        raise KinesisRefusedError(
            f"fault {self.id} ({self.name})", "HTTP 404", "it has been removed"
        )

    def remove(self) -> None:
        """Remove the fault. It may be removed already."""
        try:
            admin(self._endpoint, "DELETE", f"faults/{self.id}")
        except KinesisRefusedError as refused:
            if refused.code != "HTTP 404":
                raise

    def __enter__(self) -> Fault:
        """The fault is active already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove the fault."""
        self.remove()


@dataclass(frozen=True, kw_only=True, slots=True)
class Stats:
    """Counts since the start, or since the last ``reset_stats()``.

    Attributes:
        calls: number of calls by operation, refused calls included.
        refused: number of refused calls by operation and error code, such as
            ``refused["GetRecords"]["ProvisionedThroughputExceededException"]``.
        records_put: number of records written.
        bytes_put: number of bytes written, partition keys included.
        records_read: number of records in answers.
        bytes_read: number of bytes of these records.
        entries_failed: number of ``PutRecords`` entries refused in calls that succeeded.
    """

    calls: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    records_put: int = 0
    bytes_put: int = 0
    records_read: int = 0
    bytes_read: int = 0
    entries_failed: int = 0


def stats(endpoint: str) -> Stats:
    """The statistics now."""
    answer = admin(endpoint, "GET", "stats")
    return Stats(
        calls=dict(answer["calls"]),
        refused={operation: dict(codes) for operation, codes in answer["refused"].items()},
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

    Args:
        endpoint: URL of the local Kinesis.
        method: HTTP method.
        path: such as ``stats``.
        body: value to send as JSON; default: none.

    Raises:
        KinesisRefusedError: with the HTTP status as its code.
        NoAnswerError: if no answer comes within 30 s, or nothing listens.
    """
    asked = f"{method} /_simulator/{path}"
    sent = None if body is None else json.dumps(body)
    connection = HTTPConnection(urlsplit(endpoint).netloc, timeout=TIMEOUT_SECONDS)
    try:
        connection.request(
            method, f"/_simulator/{path}", sent, {"Content-Type": "application/json"}
        )
        response = connection.getresponse()
        answer: dict[str, Any] = json.loads(response.read() or b"{}")
    except (OSError, HTTPException, ValueError) as error:
        raise NoAnswerError(f"{asked}: no answer from {endpoint}: {error!r}") from error
    finally:
        connection.close()
    if response.status != HTTPStatus.OK:
        message = str(answer.get("error", answer.get("message", "")))
        raise KinesisRefusedError(asked, f"HTTP {response.status}", message)
    return answer
