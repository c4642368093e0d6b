"""Requests to AWS: clients, several requests at a time, and repeats until all is accepted."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import boto3
from botocore import exceptions, parsers
from botocore.config import Config

Entry = TypeVar("Entry")
Result = TypeVar("Result")

_THROTTLED = {
    "KMSThrottlingException",
    "LimitExceededException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
}
_PASSING = {*_THROTTLED, "InternalException", "InternalServerError", "ServiceUnavailable"}
_SERVER_ERROR = 500
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 10.0


class NotDeliveredError(Exception):
    """A service did not accept all entries. The message names the service and the reason."""


def is_local(endpoint: str | None) -> bool:
    """Whether a server is on this machine. It needs no credentials."""
    return endpoint is not None and urlsplit(endpoint).hostname in ("127.0.0.1", "localhost")


@cache
def client(
    service: str, region: str | None = None, endpoint: str | None = None, attempts: int = 1
) -> Any:
    """The client of a service, one per process. Threads may share it.

    Args:
        service: ``dynamodb``, ``events`` or ``kinesis``.
        region: AWS region. Default: from the AWS SDK.
        endpoint: URL of another server. One on this machine needs no credentials.
        attempts: tries of the SDK for a call that fails temporarily. ``Delivery`` decides itself.

    Raises:
        NoCredentialsError: if the AWS SDK finds no credentials now. The next call looks again: a
            client without credentials would stay without them.
    """
    local = is_local(endpoint)
    keys = {"aws_access_key_id": "local", "aws_secret_access_key": "local"} if local else {}
    session = boto3.Session(region_name=region or ("us-east-1" if local else None), **keys)
    if session.get_credentials() is None:
        raise exceptions.NoCredentialsError
    config = Config(
        connect_timeout=5,
        read_timeout=20,
        proxies={} if local else None,
        max_pool_connections=16,  # as many as a task or a query uses
        retries={"total_max_attempts": attempts, "mode": "standard"},
        tcp_keepalive=True,
    )
    return session.client(service, endpoint_url=endpoint, config=config)


@dataclass(frozen=True)
class Refused(Generic[Entry]):
    """An entry that a service refuses each time, and its reason in the words of the service."""

    entry: Entry
    reason: str


@dataclass(frozen=True)
class Answer(Generic[Entry]):
    """The entries that a service may accept later, why not now, and those that it refuses."""

    again: Sequence[Entry] = ()
    reason: str = ""
    refused: Sequence[Refused[Entry]] = ()


@dataclass(frozen=True)
class Delivery:
    """How long a request is repeated."""

    target: str  # kind and name of the table or bus, for messages
    timeout: float  # seconds
    abandoned: threading.Event  # ends the pauses, because another request of the task has failed

    def deliver(
        self, entries: Sequence[Entry], send: Callable[[Sequence[Entry]], Answer[Entry]]
    ) -> list[Refused[Entry]]:
        """Send the entries of a request until the service has accepted or refused each.

        If the service refuses the whole request for its content, each entry is sent alone.

        Returns:
            The refused entries.

        Raises:
            NotDeliveredError: after the timeout, at an error that stays, or if the service refuses
                each of several entries: the cause is then the table or the bus.
        """
        refused: list[Refused[Entry]] = []
        until, pause = time.monotonic() + self.timeout, _FIRST_PAUSE
        while entries:
            try:
                answer = send(entries)
            except NotDeliveredError:
                raise
            except Exception as error:  # noqa: BLE001 the next lines tell them apart
                if _code(error) == "ValidationException" and len(entries) > 1:
                    return refused + self._one_by_one(entries, send)
                answer = self._answer_to(error, entries)
            refused += answer.refused
            entries = answer.again
            if entries:
                left = until - time.monotonic()
                rest = min(left, random.uniform(0, pause))  # noqa: S311
                if left <= 0 or self.abandoned.wait(rest):
                    raise NotDeliveredError(
                        f"{self.target}: {len(entries)} entries were not accepted within "
                        f"{self.timeout:g} s. The last answer was: {answer.reason}"
                    )
                pause = min(2 * pause, _LONGEST_PAUSE)
        return refused

    def _one_by_one(
        self, entries: Sequence[Entry], send: Callable[[Sequence[Entry]], Answer[Entry]]
    ) -> list[Refused[Entry]]:
        refused = [found for entry in entries for found in self.deliver([entry], send)]
        if len(refused) == len(entries):
            raise NotDeliveredError(
                f"{self.target}: each of {len(entries)} entries is refused. Check the table or the "
                f"bus. The last answer was: {refused[-1].reason}"
            )
        return refused

    def _answer_to(self, error: Exception, entries: Sequence[Entry]) -> Answer[Entry]:
        if _code(error) == "ValidationException":
            return Answer(refused=[Refused(entries[0], str(error))])
        if not _may_pass(error):
            raise NotDeliveredError(f"{self.target}: {error}") from error
        return Answer(again=entries, reason=f"{type(error).__name__}: {error}")


def _may_pass(error: Exception) -> bool:
    """Whether a call may succeed later: throttling, no connection, or no credentials yet."""
    if isinstance(error, exceptions.ClientError):
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        return status >= _SERVER_ERROR or _code(error) in _PASSING
    passing = (
        exceptions.ConnectionError,
        exceptions.HTTPClientError,
        exceptions.IncompleteReadError,
        exceptions.NoCredentialsError,
        exceptions.CredentialRetrievalError,
        parsers.ResponseParserError,
    )
    return isinstance(error, passing)


def _code(error: Any) -> str:
    return str(getattr(error, "response", {}).get("Error", {}).get("Code", ""))


def chunks(
    entries: Iterable[Entry], most: int, most_bytes: int, size: Callable[[Entry], int]
) -> Iterator[list[Entry]]:
    """The entries of each request: at most ``most``, with at most ``most_bytes`` together."""
    chunk: list[Entry] = []
    total = 0
    for entry in entries:
        more = size(entry)
        if chunk and (len(chunk) == most or total + more > most_bytes):
            yield chunk
            chunk, total = [], 0
        chunk.append(entry)
        total += more
    if chunk:
        yield chunk


def in_parallel(
    call: Callable[[Entry], Result], entries: Iterable[Entry], limit: int, failed: threading.Event
) -> Iterator[Result]:
    """The results of calls in threads, as they end. At most ``limit`` entries are in memory.

    ``failed`` is set as soon as a call fails, so that the others end their pauses.
    """
    running: set[Future[Result]] = set()
    with ThreadPoolExecutor(limit) as pool:
        try:
            for entry in entries:
                if len(running) == limit:
                    ended, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from [future.result() for future in ended]
                running.add(pool.submit(call, entry))
            while running:
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                yield from [future.result() for future in ended]
        except BaseException:
            failed.set()
            raise
