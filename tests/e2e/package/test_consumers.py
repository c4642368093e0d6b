"""The command for consumers, against the local Kinesis."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from spark_kinesis.consumers import __main__ as command
from spark_kinesis.consumers.registry import Registry
from tests.e2e.support.streams import REGION, Stream, local_kinesis

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def stream(simulator: str) -> Stream:
    return Stream(simulator, 1)


@pytest.fixture
def run(
    stream: Stream, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, list[str], str]]:
    """Runs the command: its exit code, the lines of its output, and its errors."""

    def call(action: str, *words: str) -> tuple[int, list[str], str]:
        access = ["--region", REGION, "--endpoint", stream.endpoint]
        code = command.main([action, stream.name, *words, *access])
        said = capsys.readouterr()
        return code, said.out.splitlines(), said.err

    return call


def consumers(stream: Stream) -> list[tuple[str, str]]:
    """Name and ARN of each consumer, as boto3 sees them."""
    arn = stream.client.describe_stream_summary(StreamName=stream.name)
    found = stream.client.list_stream_consumers(
        StreamARN=arn["StreamDescriptionSummary"]["StreamARN"]
    )
    return [(it["ConsumerName"], it["ConsumerARN"]) for it in found["Consumers"]]


def test_a_consumer_is_registered_listed_and_deregistered(
    stream: Stream, run: Callable[..., tuple[int, list[str], str]]
) -> None:
    code, lines, cost = run("list")
    assert (code, lines) == (0, ["NAME  STATUS  CREATED  ARN"])
    assert "per hour and shard" in cost
    assert "per GB" in cost
    code, (arn,), cost = run("register", "app")
    assert (code, [("app", arn)]) == (0, consumers(stream))
    assert "per GB" in cost
    code, (_, row), _ = run("list")
    assert code == 0
    assert row.split()[:2] == ["app", "ACTIVE"]
    assert row.split()[-1] == arn
    code, lines, warning = run("deregister", "app", "--yes")
    assert (code, lines) == (0, [f"deregistered {arn}"])
    assert f"{arn} will not exist any more" in warning
    assert "another ARN" in warning
    assert consumers(stream) == []


@pytest.mark.parametrize(("answer", "remains"), [("", 1), ("no\n", 1), ("y\n", 0), ("Yes\n", 0)])
def test_a_consumer_is_deregistered_only_after_a_yes(
    stream: Stream,
    run: Callable[..., tuple[int, list[str], str]],
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    remains: int,
) -> None:
    run("register", "app")
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    code, _, said = run("deregister", "app")
    assert "Deregister consumer app? [y/N]" in said
    assert code == remains
    assert len(consumers(stream)) == remains


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["deregister", "none", "--yes"], "ResourceNotFoundException"),
        (["register", "app"], "ResourceInUseException"),
        (["register", "not a name"], "ValidationException"),
    ],
)
def test_a_refusal_is_an_error(
    run: Callable[..., tuple[int, list[str], str]], words: list[str], said: str
) -> None:
    run("register", "app")
    code, lines, error = run(*words)
    assert (code, lines) == (1, [])
    assert error.startswith("consumers: ")
    assert said in error


def test_an_unknown_stream_and_an_unknown_profile_are_errors(
    simulator: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["list", "nowhere", "--endpoint", simulator]) == 1
    assert "ResourceNotFoundException" in capsys.readouterr().err
    assert command.main(["list", "nowhere", "--profile", "nobody"]) == 1
    assert "cannot connect to AWS" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["list"], ["register", "s"], ["list", "s", "n"], ["remove", "s"]]
)
def test_wrong_arguments_are_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(words)
    assert ended.value.code == 2


def test_register_waits_until_the_consumer_is_active() -> None:
    with local_kinesis(clock="simulated", change_time=timedelta(seconds=3)) as kinesis:
        kinesis.create("orders")
        pauses: list[float] = []

        def sleep(seconds: float) -> None:
            pauses.append(seconds)
            kinesis.advance(timedelta(seconds=seconds))

        registry = Registry(kinesis.client, "orders", sleep)
        assert registry.register("app").status == "ACTIVE"
        assert pauses == [1.0, 1.0, 1.0]


def test_a_consumer_that_does_not_become_active_is_an_error() -> None:
    with local_kinesis(clock="simulated", change_time=timedelta(seconds=3)) as kinesis:
        kinesis.create("orders")
        registry = Registry(kinesis.client, "orders", lambda _: None)
        with pytest.raises(TimeoutError, match=r"consumer/app:.* is still CREATING"):
            registry.register("app")
