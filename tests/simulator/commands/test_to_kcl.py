"""`spark-kinesis migrate to-kcl`, with the local Kinesis and moto's DynamoDB."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_kinesis_agg.aggregator import RecordAggregator

from spark_kinesis.tools.cli import run
from spark_kinesis.tools.facts.streams import describe
from spark_kinesis.tools.handover import handing_back
from tests.dynamodb import OTHER_ITEMS, TABLE, dynamodb, leases, put_lease, single_table

FIRST, SECOND = "shardId-000000000000", "shardId-000000000001"


class Leaving:
    """A stream with two shards, and the checkpoint of a query that has read it in part."""

    def __init__(self, kinesis: Any, endpoint: str, name: str, folder: Path) -> None:
        self.client, self.endpoint, self.name, self.folder = kinesis, endpoint, name, folder
        self.found = describe(kinesis, name)

    def put(self, data: bytes, shard: int) -> str:
        answer = self.client.put_record(
            StreamName=self.name,
            PartitionKey="k",
            Data=data,
            ExplicitHashKey=str(shard * 2**127),
        )
        return str(answer["SequenceNumber"])

    def completed(self, first: str, second: str) -> None:
        """Write the log of a query whose last micro-batch ended there."""
        created = self.found.created.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        created = created.replace(".000Z", "Z")
        stream = {"created": created, "shards": {FIRST: first, SECOND: second}}
        offset = json.dumps({"version": 1, "streams": {self.found.arn: stream}})
        for name, text in (("offsets/0", f"v1\n{{}}\n{offset}"), ("commits/0", "v1\n{}")):
            file = self.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def hand_back(self, moto: str, *words: str) -> int:
        place = ["--checkpoint", str(self.folder), "--endpoint", self.endpoint]
        fast = ["--dynamodb-endpoint", moto, "--watch", "500ms", "--yes"]
        fast += ["--backup", str(self.folder / "old-leases.jsonl")]
        return run(["migrate", "to-kcl", TABLE, *place, *fast, *words])


@pytest.fixture
def leaving(
    kinesis: Any, endpoint: str, make_stream: Callable[[int], str], tmp_path: Path
) -> Leaving:
    return Leaving(kinesis, endpoint, make_stream(2), tmp_path)


def test_positions_become_leases(
    leaving: Leaving, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    number = leaving.put(b"plain", 0)
    packed = RecordAggregator()
    for row in range(3):
        packed.add_user_record("k", f"row {row}", str(2**127))
    aggregate = leaving.put(packed.clear_and_get().get_contents()[2], 1)
    leaving.completed(number, aggregate)
    put_lease(table, TABLE, FIRST, "TRIM_HORIZON")
    assert leaving.hand_back(moto) == 0
    assert leases(table, TABLE) == {FIRST: (number, 0), SECOND: (aggregate, 2)}
    (kept,) = (leaving.folder / "old-leases.jsonl").read_text().splitlines()
    assert json.loads(kept)["checkpoint"] == {"S": "TRIM_HORIZON"}
    said = capsys.readouterr().out
    assert "put each item of" in said
    assert f"delete the leases {SECOND}" in said
    (old,) = (it for it in table.scan(TableName=TABLE)["Items"] if it["leaseKey"]["S"] == FIRST)
    assert old["leaseCounter"] == {"N": "18"}
    assert "leaseOwner" not in old


def test_the_single_table_of_kcl_35_keeps_its_other_items(
    leaving: Leaving, moto: str, table: Any
) -> None:
    number = leaving.put(b"plain", 0)
    leaving.completed(number, "trim_horizon")
    single_table(table, TABLE)
    put_lease(table, TABLE, FIRST, "LATEST", entityType={"S": "LEASE"})
    assert leaving.hand_back(moto) == 0
    assert leases(table, TABLE) == {FIRST: (number, 0), SECOND: ("TRIM_HORIZON", 0)}
    items = {it["leaseKey"]["S"]: it for it in table.scan(TableName=TABLE)["Items"]}
    assert [items[it]["entityType"] for it in (FIRST, SECOND)] == [{"S": "LEASE"}] * 2
    assert [items[it["leaseKey"]["S"]] for it in OTHER_ITEMS] == OTHER_ITEMS
    (kept,) = (leaving.folder / "old-leases.jsonl").read_text().splitlines()
    assert json.loads(kept)["leaseKey"] == {"S": FIRST}


def test_what_was_handed_back_can_be_taken_over_again(
    leaving: Leaving, moto: str, table: Any, tmp_path: Path
) -> None:
    number = leaving.put(b"plain", 0)
    leaving.completed(number, "trim_horizon")
    put_lease(table, TABLE, FIRST, "LATEST")
    assert leaving.hand_back(moto) == 0
    new = tmp_path / "new"
    place = ["--stream", leaving.name, "--checkpoint", str(new), "--endpoint", leaving.endpoint]
    assert (
        run(
            ["migrate", "kcl", TABLE, "--dynamodb-endpoint", moto, *place, "--yes", "--watch", "0s"]
        )
        == 0
    )
    (stream,) = json.loads((new / "sources/0/initial-offset.json").read_text())["streams"].values()
    places = {name: it.partition("@")[0] for name, it in stream["shards"].items()}
    assert places == {FIRST: number, SECOND: "trim_horizon"}


def test_an_application_with_several_streams(leaving: Leaving, moto: str, table: Any) -> None:
    number = leaving.put(b"plain", 0)
    leaving.completed(number, "trim_horizon")
    account, created = leaving.found.arn.split(":")[4], int(leaving.found.created.timestamp())
    prefix = f"{account}:{leaving.name}:{created}:"
    put_lease(table, TABLE, f"{account}:other:17:{FIRST}", "17")
    assert leaving.hand_back(moto) == 0
    found = leases(table, TABLE)
    assert found.pop(f"{account}:other:17:{FIRST}") == ("17", 0)
    assert found == {prefix + FIRST: (number, 0), prefix + SECOND: ("TRIM_HORIZON", 0)}


def test_a_time_is_for_the_configuration_of_the_application(
    leaving: Leaving, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    leaving.completed("at:2026-01-02T03:04:05Z", "trim_horizon")
    assert leaving.hand_back(moto, "--dry-run", "--allow-data-loss") == 0
    assert leases(table, TABLE) == {}
    assert leaving.hand_back(moto, "--allow-data-loss") == 0
    assert leases(table, TABLE) == {FIRST: ("AT_TIMESTAMP", 0), SECOND: ("TRIM_HORIZON", 0)}
    assert "Configure the application to begin at 2026-01-02T03:04:05Z" in capsys.readouterr().out


def test_a_table_that_is_not_there_is_named(
    leaving: Leaving, moto: str, capsys: pytest.CaptureFixture[str]
) -> None:
    leaving.completed("trim_horizon", "trim_horizon")
    assert leaving.hand_back(moto) == 2
    assert f"no table {TABLE} in " in capsys.readouterr().err


def test_an_application_that_runs_is_left_alone(
    leaving: Leaving, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    leaving.completed("trim_horizon", "trim_horizon")
    put_lease(table, TABLE, FIRST, "17")
    is_done = threading.Event()

    def renew() -> None:
        client = dynamodb(moto)
        while not is_done.wait(0.05):
            client.update_item(
                TableName=TABLE,
                Key={"leaseKey": {"S": FIRST}},
                UpdateExpression="ADD leaseCounter :one",
                ExpressionAttributeValues={":one": {"N": "1"}},
            )

    worker = threading.Thread(target=renew)
    worker.start()
    try:
        assert leaving.hand_back(moto) == 2
    finally:
        is_done.set()
        worker.join()
    assert "a KCL application is running" in capsys.readouterr().err
    assert leases(table, TABLE) == {FIRST: ("17", 0)}


def test_a_query_that_runs_is_noticed(
    leaving: Leaving,
    moto: str,
    table: Any,
    capsys: pytest.CaptureFixture[str],
    during_watch: Callable[[Callable[[], object]], None],
) -> None:
    leaving.completed("trim_horizon", "trim_horizon")
    put_lease(table, TABLE, FIRST, "17")
    during_watch(lambda: (leaving.folder / "offsets/1").write_text("v1"))
    assert leaving.hand_back(moto) == 2
    assert "is running: it has planned or completed a micro-batch" in capsys.readouterr().err
    assert leases(table, TABLE) == {FIRST: ("17", 0)}


def test_old_leases_are_kept_or_nothing_is_written(
    leaving: Leaving, moto: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    leaving.completed("trim_horizon", "trim_horizon")
    put_lease(table, TABLE, FIRST, "17")
    (leaving.folder / "old-leases.jsonl").write_text("of an earlier command")
    assert leaving.hand_back(moto) == 2
    assert "Choose another file with --backup" in capsys.readouterr().err
    assert leases(table, TABLE) == {FIRST: ("17", 0)}


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("no connection")])
def test_a_part_that_was_written_can_be_taken_back(
    leaving: Leaving,
    moto: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    error: BaseException,
) -> None:
    def broken(*_: object) -> None:
        raise error

    leaving.completed("trim_horizon", "trim_horizon")
    put_lease(dynamodb(moto), TABLE, FIRST, "17")
    monkeypatch.setattr(handing_back, "write_leases", broken)
    assert leaving.hand_back(moto) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "Only a part of the leases may have been written" in said
    assert f"put each item of {leaving.folder / 'old-leases.jsonl'} into {TABLE}" in said
