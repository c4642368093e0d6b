"""The URL of a checkpoint in S3: which keys every command uses, and that it prints none."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from spark_kinesis._times import instant
from spark_kinesis.local import LocalKinesis
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.facts import files
from spark_kinesis.tools.facts.files import Store, shown
from spark_kinesis.tools.facts.streams import describe
from tests.simulator.commands.written import Query, at

KEYS = "AKIAX:SEC/RET@"
# An {} is the place of keys. `doctor` finds problems, and two of the ways in find no positions.
COMMANDS = {
    "top --once --checkpoint s3://{}bucket/query": {0},
    "top --once --html OUT/r.html --checkpoint s3://{}bucket/query": {0},
    "advise --stream orders --checkpoint s3://{}bucket/query": {0, 1},
    "batches --checkpoint s3://{}bucket/query": {0},
    "batches --checkpoint s3://{}bucket/none": {2},
    "doctor --checkpoint s3://{}bucket/query": {1},
    "doctor --checkpoint s3://{}bucket/none": {1},
    "rewind --yes --watch 0 --to latest --checkpoint s3://{}bucket/query": {0},
    "rewind --yes --watch 0 --to latest --json --checkpoint s3a://{}bucket/query": {0},
    "migrate file OUT/places.csv --yes --stream orders --checkpoint s3://{}bucket/new": {0},
    "migrate file OUT/places.csv --yes --stream orders --json --checkpoint s3://{}bucket/new": {0},
    "migrate file OUT/places.csv --stream orders --checkpoint s3://{}bucket/query": {2},
    "migrate awslabs s3://{}bucket/query --checkpoint s3://{}bucket/new": {2},
    "migrate qubole s3://{}bucket/query --metadata s3://{}bucket/none"
    " --checkpoint s3://{}bucket/new": {2},
    "migrate to-kcl leases --create-table --dry-run --checkpoint s3://{}bucket/query": {0},
}


@pytest.fixture(scope="module")
def local() -> Iterator[LocalKinesis]:
    with LocalKinesis(streams={"orders": 2}, clock="simulated") as kinesis:
        yield kinesis


@pytest.fixture
def query(local: LocalKinesis, tmp_path: Path) -> Query:
    made = Query(local, tmp_path)
    made.created = instant(describe(made.client, "orders").created)  # as the connector writes it
    return made


@pytest.fixture
def used(query: Query, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The profiles with which commands open checkpoints. A folder is in the place of the bucket."""
    began = datetime(2026, 1, 1, tzinfo=timezone.utc)
    query.complete(s0=at(began), s1=at(began))
    (tmp_path / "places.csv").write_text(
        "shard,position\nshardId-000000000000,TRIM_HORIZON\nshardId-000000000001,TRIM_HORIZON\n"
    )
    profiles = tmp_path / "credentials"
    profiles.write_text("[audit]\naws_access_key_id = audit\naws_secret_access_key = secret\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(profiles))
    folders = {"query": tmp_path, "new": tmp_path / "new", "none": tmp_path / "none"}
    found: list[str | None] = []

    def opened(location: str, store: Store) -> Any:
        found.append(store.profile)
        return files._LocalFiles(shown(location), folders[location.rpartition("/")[2]])

    monkeypatch.setattr(files, "_open_s3", opened)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_uses_the_profile_and_prints_no_keys_of_a_url(
    command: str, query: Query, used: list[str | None], capsys: pytest.CaptureFixture[str]
) -> None:
    words = command.replace("{}", KEYS).replace("OUT", str(query.folder)).split()
    place = ["--endpoint", query.kinesis.endpoint, "--region", "us-east-1", "--profile", "audit"]
    code = run([*words, *place])
    said = capsys.readouterr()
    assert code in COMMANDS[command], said
    assert not [it for it in ("AKIAX", "SEC", "RET") if it in said.out + said.err], said
    assert set(used) == {"audit"}
