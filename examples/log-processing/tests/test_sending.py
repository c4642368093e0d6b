"""Requests: what is sent again, what is refused, and when it fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from hypothesis import given
from hypothesis import strategies as st

from log_processing.sending import (
    Answer,
    Delivery,
    NotDeliveredError,
    Refused,
    chunks,
    client,
    in_parallel,
)

DELIVERY = Delivery("table 'logs'", 3600, threading.Event())


def error(code: str, status: int = 400) -> ClientError:
    answer: Any = {
        "Error": {"Code": code, "Message": "no"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(answer, "BatchWriteItem")


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("log_processing.sending.random.uniform", lambda *_: 0)


def answers(*given: Any) -> tuple[list[list[int]], Callable[[Sequence[int]], Answer[int]]]:
    """What is sent, and a function that gives these answers to it, one after the other."""
    sent: list[list[int]] = []
    left = iter(given)

    def send(entries: Sequence[int]) -> Answer[int]:
        sent.append(list(entries))
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]

    return sent, send


@pytest.mark.parametrize(
    "passing",
    [
        error("ProvisionedThroughputExceededException"),
        error("Whatever", 503),
        EndpointConnectionError(endpoint_url="http://127.0.0.1:9"),
    ],
)
def test_only_what_was_not_accepted_is_sent_again(passing: Exception) -> None:
    sent, send = answers(passing, Answer([2, 3]), Answer([3], refused=[Refused(2, "no")]), Answer())
    assert DELIVERY.deliver([1, 2, 3], send) == [Refused(2, "no")]
    assert sent == [[1, 2, 3], [1, 2, 3], [2, 3], [3]]


def test_a_request_that_is_refused_for_its_content_is_sent_one_by_one() -> None:
    invalid = error("ValidationException")
    sent, send = answers(invalid, Answer(), invalid, Answer())
    (refused,) = DELIVERY.deliver([1, 2, 3], send)
    assert (refused.entry, sent) == (2, [[1, 2, 3], [1], [2], [3]])


def test_if_each_of_several_is_refused_the_cause_is_the_table() -> None:
    _, send = answers(*[error("ValidationException")] * 3)
    with pytest.raises(NotDeliveredError, match=r"^table 'logs': each of 2 entries is refused\."):
        DELIVERY.deliver([1, 2], send)


def test_an_error_that_stays_fails_at_once() -> None:
    sent, send = answers(error("AccessDeniedException"))
    with pytest.raises(NotDeliveredError, match=r"table 'logs': .*AccessDenied"):
        DELIVERY.deliver([1], send)
    assert len(sent) == 1


def test_it_ends_after_the_timeout_or_if_another_request_has_failed() -> None:
    def never(entries: Sequence[int]) -> Answer[int]:
        return Answer(entries, "slow down")

    with pytest.raises(NotDeliveredError, match=r"within 0 s\. The last answer was: slow down"):
        Delivery("bus 'b'", 0, threading.Event()).deliver([1], never)
    abandoned = threading.Event()
    abandoned.set()
    with pytest.raises(NotDeliveredError):
        Delivery("bus 'b'", 3600, abandoned).deliver([1], never)


def test_credentials_that_are_missing_once_are_looked_for_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    client.cache_clear()
    attempts = []

    def send(_: Sequence[int]) -> Answer[int]:
        attempts.append(1)
        if len(attempts) == 2:
            monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
            monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
        client("dynamodb", "eu-west-1")
        return Answer()

    assert DELIVERY.deliver([1], send) == []
    assert len(attempts) == 2
    assert client("dynamodb", "eu-west-1") is client("dynamodb", "eu-west-1")
    client.cache_clear()


@given(st.lists(st.integers(0, 50)), st.integers(1, 5), st.integers(1, 100))
def test_requests_have_all_entries_within_the_limits(
    sizes: list[int], most: int, most_bytes: int
) -> None:
    found = list(chunks(sizes, most, most_bytes, lambda it: it))
    assert [it for chunk in found for it in chunk] == sizes
    assert all(0 < len(it) <= most and (sum(it) <= most_bytes or len(it) == 1) for it in found)


def test_few_requests_are_in_memory_and_a_failure_ends_the_others() -> None:
    failed, taken, ended = threading.Event(), [], []

    def entries() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    def call(number: int) -> int:
        if number == 5:
            raise ValueError(number)
        if number > 5:
            ended.append(failed.wait(5))
        return number

    with pytest.raises(ValueError, match="5"):
        list(in_parallel(call, entries(), 3, failed))
    assert len(taken) < 12
    assert all(ended)
    assert sorted(in_parallel(lambda it: it, range(100), 3, threading.Event())) == [*range(100)]
