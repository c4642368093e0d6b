"""A checkpoint on an S3 server that is not AWS: who finds it, as whom, and what is written."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import boto3
import pytest

from spark_kinesis import CheckpointError
from spark_kinesis.tools import rewind
from spark_kinesis.tools.cli import run
from spark_kinesis.tools.facts.checkpoints import Checkpoint
from spark_kinesis.tools.facts.files import CheckpointFiles, Store, open_files
from tests.simulator.commands.written import Query, at

PLACE = "s3://bucket/checkpoints/orders"


@pytest.fixture
def s3(moto: str) -> Iterator[Any]:
    """A client of an S3 server with an empty bucket."""
    keys = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
    client = boto3.client("s3", endpoint_url=moto, region_name="us-east-1", **keys)
    client.create_bucket(Bucket="bucket")
    yield client
    for it in client.list_objects_v2(Bucket="bucket").get("Contents", ()):
        client.delete_object(Bucket="bucket", Key=it["Key"])
    client.delete_bucket(Bucket="bucket")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with profiles, and without keys in the environment."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "credentials").write_text(
        "[audit]\naws_access_key_id = audit\naws_secret_access_key = secret\n"
    )
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(folder / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(folder / "config"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def files(moto: str) -> CheckpointFiles:
    keys = {"endpoint_url": moto, "key": "local", "secret": "local", "region": "us-east-1"}
    return open_files(PLACE, Store(options=keys))


@pytest.mark.usefixtures("s3")
def test_an_object_is_created_once_replaced_and_removed(files: CheckpointFiles) -> None:
    assert files.read("offsets/7") is None
    assert files.modified("offsets/7") is None
    assert files.names("offsets") == []
    files.create("offsets/7", "first")
    with pytest.raises(FileExistsError):
        files.create("offsets/7", "second")
    assert files.read("offsets/7") == "first"
    files.replace("offsets/7", "third")
    assert files.read("offsets/7") == "third"
    assert files.names("offsets") == ["7"]
    files.create("sources/0/initial-offset.json", "text")
    assert files.names("sources") == ["0"]
    modified = files.modified("offsets/7")
    assert modified is not None
    assert abs((datetime.now(timezone.utc) - modified).total_seconds()) < 60
    files.remove("offsets/7")
    assert files.names("offsets") == []
    assert files.doubt is None


@pytest.mark.usefixtures("s3")
def test_a_bucket_that_is_not_there_is_named(moto: str) -> None:
    keys = {"endpoint_url": moto, "key": "local", "secret": "local"}
    files = open_files("s3://none/orders", Store(options=keys, region="us-east-1"))
    with pytest.raises(CheckpointError, match=r"s3://none/orders: offsets .*NoSuchBucket"):
        files.names("offsets")


@pytest.mark.usefixtures("home")
def test_a_server_on_this_machine_gets_the_keys_of_the_environment(
    moto: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    place = Store(region="us-east-1", options={"endpoint_url": moto})
    files: Any = open_files(PLACE, place)
    assert files._files._client._request_signer._credentials.access_key == "mine"


def upload(query: Query, s3: Any) -> None:
    """Put the checkpoint of a query into the bucket."""
    began = datetime(2026, 1, 1, tzinfo=timezone.utc)
    query.complete(s0=at(began), s1=at(began))
    for file in query.folder.rglob("*"):
        if file.is_file() and "home" not in file.parts:
            key = f"checkpoints/orders/{file.relative_to(query.folder).as_posix()}"
            s3.put_object(Bucket="bucket", Key=key, Body=file.read_bytes())


def words(query: Query, command: str, *more: str) -> list[str]:
    place = ["--checkpoint", PLACE, "--endpoint", query.kinesis.endpoint, "--region", "us-east-1"]
    return [command, *place, *more]


@pytest.mark.usefixtures("home")
def test_a_profile_keeps_the_endpoint_of_the_store(
    query: Query, s3: Any, moto: str, capsys: pytest.CaptureFixture[str]
) -> None:
    upload(query, s3)
    chosen = ["--profile", "audit", "--storage-option", f"endpoint_url={moto}"]
    assert run(words(query, "batches", *chosen)) == 0, capsys.readouterr().err
    moved = ["--yes", "--watch", "0s", "--to", "latest", *chosen]
    assert run(words(query, "rewind", *moved)) == 0, capsys.readouterr().err
    keys = [it["Key"] for it in s3.list_objects_v2(Bucket="bucket")["Contents"]]
    assert "checkpoints/orders/offsets/1" in keys, "the move is in the bucket of this server"


@pytest.mark.parametrize(
    "setting", ["profile", "services of the profile", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]
)
def test_an_endpoint_of_the_configuration_is_used(  # noqa: PLR0917 fixtures
    query: Query, s3: Any, moto: str, home: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    upload(query, s3)
    s3_style = "s3 =\n  addressing_style = path\n"
    text = f"[profile audit]\n{s3_style}"
    if setting == "profile":
        text += f"endpoint_url = {moto}\n"
    elif setting == "services of the profile":
        text += f"services = mine\n[services mine]\ns3 =\n  endpoint_url = {moto}\n"
    else:
        monkeypatch.setenv(setting, moto)
    (home / "config").write_text(text)
    assert run(words(query, "batches", "--profile", "audit")) == 0


@pytest.mark.usefixtures("home")
def test_the_store_may_have_keys_of_its_own(
    query: Query, s3: Any, moto: str, capsys: pytest.CaptureFixture[str]
) -> None:
    upload(query, s3)
    own = [f"endpoint_url={moto}", "key=local", "secret=local"]
    chosen = [word for it in own for word in ("--storage-option", it)]
    assert run(words(query, "batches", *chosen, "--profile", "audit")) == 0
    assert run(words(query, "doctor", *chosen)) in (0, 1)
    assert f"{PLACE} is readable" in capsys.readouterr().out


@pytest.mark.usefixtures("home")
def test_rewind_is_a_function(query: Query, s3: Any, moto: str) -> None:
    upload(query, s3)
    options = {"endpoint_url": moto, "key": "local", "secret": "local"}
    checkpoint = Checkpoint(open_files(PLACE, Store(options=options, region="us-east-1")))
    done = rewind(checkpoint, "trim_horizon", kinesis=query.client, watch=0)
    assert checkpoint.files.read(f"{done.kept}/offsets/0")
    assert f"delete {PLACE}/offsets/1" in done.undo
    assert "trim_horizon" in (checkpoint.files.read("offsets/0") or "")
