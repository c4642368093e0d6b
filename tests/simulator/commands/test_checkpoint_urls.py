"""The URL of a checkpoint in S3: which profile every command uses, and that it prints no keys."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_kinesis._times import instant
from spark_kinesis.local import LocalKinesis
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.facts import files
from spark_kinesis.tools.facts.streams import describe
from tests.simulator.commands.written import Query, at

if TYPE_CHECKING:
    from spark_kinesis.tools.facts.files import Store

# `doctor` finds problems, and one of the ways in finds no positions.
COMMANDS = {
    "top --once --checkpoint s3://bucket/query": {0},
    "batches --checkpoint s3://bucket/query": {0},
    "doctor --checkpoint s3://bucket/query": {1},
    "rewind --yes --watch 0s --to latest --checkpoint s3a://bucket/query": {0},
    "migrate awslabs s3://bucket/query --checkpoint s3://bucket/new": {2},
    "migrate to-kcl leases --checkpoint s3://bucket/query --dynamodb-endpoint http://127.0.0.1:1": {
        2
    },
}
KEYS = "AKIAX:SEC/RET@"


@pytest.fixture(scope="module")
def local() -> Iterator[LocalKinesis]:
    with LocalKinesis(streams={"orders": 2}, clock="simulated") as kinesis:
        yield kinesis


@pytest.fixture
def query(local: LocalKinesis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Query:
    made = Query(local, tmp_path)
    made.created = instant(describe(made.client, "orders").created)  # as the connector writes it
    began = datetime(2026, 1, 1, tzinfo=timezone.utc)
    made.complete(s0=at(began), s1=at(began))
    profiles = tmp_path / "credentials"
    profiles.write_text("[audit]\naws_access_key_id = audit\naws_secret_access_key = secret\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(profiles))
    return made


def words(command: str, query: Query) -> list[str]:
    place = ["--endpoint", query.kinesis.endpoint, "--region", "us-east-1", "--profile", "audit"]
    return [*command.split(), *place]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_uses_the_profile(
    command: str,
    query: Query,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    used: list[str | None] = []

    def opened(location: str, store: Store) -> Any:
        """A folder is in the place of the bucket."""
        used.append(store.profile)
        is_query = location.endswith("query")
        return files._LocalFiles(tmp_path if is_query else tmp_path / "new")

    monkeypatch.setattr(files, "_open_s3", opened)
    assert run(words(command, query)) in COMMANDS[command], capsys.readouterr()
    assert set(used) == {"audit"}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_refuses_keys_in_a_url_and_prints_none(
    command: str, query: Query, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(words(command.replace("//bucket", f"//{KEYS}bucket"), query))
    said = capsys.readouterr()
    assert code in (1, 2)
    assert (
        "Keys and other settings are options of the store" in " ".join(said.out.split()) + said.err
    )
    assert not [it for it in ("AKIAX", "SEC", "RET") if it in said.out + said.err], said
