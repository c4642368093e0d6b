"""``python -m log_processing.query`` against moto's DynamoDB."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from stored_events import MINUTE_US, SECOND_US, SERVICE, SEVEN_US, item
from throttled_server import ThrottledServer

from log_processing.query import command_line
from log_processing.query.command_line import main

ENVIRONMENT = {"LOG_TABLE": "logs", "LOG_REGION": "eu-west-1"}
SPAN = ["--from", "2026-11-23T07:00", "--to", "2026-11-23T08:00:00+00:00"]


def put(dynamodb: Any, *items: dict[str, Any]) -> None:
    for it in items:
        dynamodb.put_item(TableName="logs", Item=it)


def json_lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_latest_prints_the_newest_events_in_order(
    dynamodb: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    now = time.time_ns() // 1000
    put(dynamodb, *[item(now - it * SECOND_US, it, message=f"event {it}") for it in range(80)])
    assert main(["latest", SERVICE, "--json"], ENVIRONMENT) == 0
    assert [it["message"] for it in json_lines(capsys)] == [f"event {it}" for it in range(50)][::-1]


def test_a_json_line_has_the_whole_event(dynamodb: Any, capsys: pytest.CaptureFixture[str]) -> None:
    put(dynamodb, item(SEVEN_US, 5, level="ERROR", message="é\n", context={"user": "7"}))
    assert main(["window", SERVICE, *SPAN, "--json"], ENVIRONMENT) == 0
    assert json_lines(capsys) == [
        {
            "timestamp": "2026-11-23T07:00:00.000000Z",
            "level": "ERROR",
            "service": SERVICE,
            "message": "é\n",
            "context": {"user": "7"},
            "arrival": 1000,
            "storedAt": 2000,
            "id": "2026-11-23T07:00:00.000000Z#logs#shardId-000000000000#5#0#0",
        }
    ]


def test_latest_says_where_the_search_stopped(
    dynamodb: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    put(dynamodb, item(time.time_ns() // 1000))
    assert main(["latest", SERVICE, "--hours", "2"], ENVIRONMENT) == 0
    printed = capsys.readouterr()
    assert "paid" in printed.out
    assert printed.err.startswith("Found 1 of 50 events. Use --hours to search before 2")


@pytest.mark.parametrize("query", [["latest"], ["window", *SPAN], ["count", *SPAN]])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_unknown_service_is_empty(
    dynamodb: Any, capsys: pytest.CaptureFixture[str], query: list[str], form: list[str]
) -> None:
    put(dynamodb, item(SEVEN_US, service="checkout"))
    assert main([*query, "Checkout", *form], ENVIRONMENT) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "No events of service 'Checkout' from 20" in printed.err
    assert "Check the name of the service" in printed.err


def test_a_window_stops_at_its_limit(dynamodb: Any, capsys: pytest.CaptureFixture[str]) -> None:
    put(dynamodb, *[item(SEVEN_US + it, it) for it in range(5)])
    assert main(["window", SERVICE, *SPAN, "--limit", "4", "--json"], ENVIRONMENT) == 0
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 4
    assert "Showing the first 4 events. Use --limit to see more." in printed.err
    assert main(["window", SERVICE, *SPAN, "--limit", "5"], ENVIRONMENT) == 0
    assert capsys.readouterr().err == ""


def test_counts_per_minute_and_level(dynamodb: Any, capsys: pytest.CaptureFixture[str]) -> None:
    put(
        dynamodb,
        item(SEVEN_US, 1),
        item(SEVEN_US + 59 * SECOND_US, 2),
        item(SEVEN_US + MINUTE_US, 3, level="ERROR"),
    )
    assert main(["count", SERVICE, *SPAN, "--json"], ENVIRONMENT) == 0
    assert json_lines(capsys) == [
        {"minute": "2026-11-23T07:00", "level": "INFO", "count": 2},
        {"minute": "2026-11-23T07:01", "level": "ERROR", "count": 1},
    ]
    assert main(["count", SERVICE, *SPAN], ENVIRONMENT) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        ["Minute", "(UTC)", "ERROR", "INFO", "all"],
        ["2026-11-23T07:00", "0", "2", "2"],
        ["2026-11-23T07:01", "1", "0", "1"],
    ]


def test_a_message_cannot_change_the_terminal(
    dynamodb: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    put(dynamodb, item(SEVEN_US, message="[red]a\x1b[2Jb\u202e", context={"\x1bk": "[/]"}))
    assert main(["window", SERVICE, *SPAN], ENVIRONMENT) == 0
    printed = "".join(capsys.readouterr().out.split())
    assert r"[red]a\x1b[2Jb\u202e" in printed
    assert r"\x1bk=[/]" in printed


def test_a_missing_table_is_one_clear_error(
    dynamodb: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dynamodb is not None
    assert main(["latest", SERVICE, "--table", "absent"], ENVIRONMENT) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("Table 'absent' does not exist. Check the name, the region")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["latest", SERVICE, "--number", "0"], "'0' is not a whole number above 0"),
        (["latest", SERVICE, "--hours", "x"], "'x' is not a whole number above 0"),
        (["window", SERVICE, "--from", "noon"], "'noon' is not a time: write it as 2026-"),
        (["count", SERVICE, *SPAN, "--from", "2026-11-24"], "--from must be before --to"),
        (["latest"], "service"),
        ([], "latest|window|count"),
    ],
)
def test_a_wrong_command_line_names_the_option(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments, ENVIRONMENT)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_throttled_requests_are_sent_again(capsys: pytest.CaptureFixture[str]) -> None:
    with ThrottledServer(failures=3) as server:
        assert main(["latest", SERVICE, "--dynamodb-endpoint", server.url], ENVIRONMENT) == 0
    assert "No events" in capsys.readouterr().err
    assert server.throttled == 3


def test_endless_throttling_ends_the_query(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command_line, "ATTEMPTS", 2)
    with ThrottledServer(failures=10_000) as server:
        assert main(["count", SERVICE, "--dynamodb-endpoint", server.url], ENVIRONMENT) == 1
    assert (
        "DynamoDB throttled the reads of table 'logs' in every attempt" in capsys.readouterr().err
    )
    assert server.throttled <= 2 * command_line.PARALLEL_REQUESTS


def test_an_unreachable_endpoint_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command_line, "ATTEMPTS", 1)
    with ThrottledServer(failures=0) as server:
        unused = server.url
    assert main(["latest", SERVICE, "--dynamodb-endpoint", unused], ENVIRONMENT) == 1
    assert capsys.readouterr().err.startswith("DynamoDB did not answer for table 'logs'. Could not")
