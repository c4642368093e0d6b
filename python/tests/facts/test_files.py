"""Files of a checkpoint: the same in a local folder and through fsspec."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.arrow import ArrowFSWrapper
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.fs import LocalFileSystem

from spark_kinesis import CheckpointError, MissingPackageError, SparkKinesisError
from spark_kinesis._boto import CallSettings
from spark_kinesis.tools.facts.files import (
    CheckpointFiles,
    Store,
    _StoreFiles,
    open_files,
    shown,
)


def stored(system: Any, root: str, *, has_objects: bool = False) -> CheckpointFiles:
    return CheckpointFiles("here", _StoreFiles(system, root, has_objects=has_objects))


@pytest.fixture(params=["path", "URL", "fsspec", "memory", "pyarrow"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> CheckpointFiles:
    root = tmp_path / "a query"
    if request.param == "path":
        return open_files(str(root))
    if request.param == "URL":
        return open_files(root.as_uri())
    if request.param == "memory":
        return open_files(f"memory://{root}")
    if request.param == "pyarrow":  # what fsspec puts around pyarrow's HDFS
        return stored(ArrowFSWrapper(LocalFileSystem()), str(root))
    return stored(fsspec.filesystem("local"), str(root))


def test_a_file_is_created_replaced_and_removed(files: CheckpointFiles) -> None:
    files.create("offsets/7", "first")
    files.replace("offsets/7", "seventh")
    assert files.read("offsets/7") == "seventh"
    assert files.names("offsets") == ["7"]
    files.remove("offsets/7")
    assert files.read("offsets/7") is None
    assert files.names("offsets") == []


def test_a_new_file_is_never_written_over_another(files: CheckpointFiles) -> None:
    files.create("offsets/7", "first")
    with pytest.raises(FileExistsError):
        files.create("offsets/7", "second")
    assert files.read("offsets/7") == "first"
    assert files.names("offsets") == ["7"]


def test_a_file_system_without_links_refuses_a_second_file_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError("no links")

    monkeypatch.setattr("os.link", refuse)
    files = open_files(str(tmp_path))
    files.create("offsets/7", "first")
    with pytest.raises(FileExistsError):
        files.create("offsets/7", "second")
    assert files.read("offsets/7") == "first"
    assert files.names("offsets") == ["7"]


def test_a_file_has_the_time_of_its_last_change(files: CheckpointFiles) -> None:
    before = datetime.now(timezone.utc) - timedelta(minutes=1)
    files.create("offsets/7", "text")
    modified = files.modified("offsets/7")
    assert modified is not None
    assert before < modified < before + timedelta(hours=1)


def test_what_is_not_there_is_empty(files: CheckpointFiles) -> None:
    assert files.modified("commits/7") is None
    assert files.names("commits") == []
    assert files.read("commits/7") is None


def test_a_new_text_has_no_old_checksum(tmp_path: Path) -> None:
    (tmp_path / "offsets").mkdir()
    checksum = tmp_path / "offsets" / ".7.crc"
    files = open_files(str(tmp_path))
    for write in (files.create, files.replace):
        checksum.write_text("of the old text")
        write("offsets/7", "text")
        assert not checksum.exists()
    checksum.write_text("of the text that goes")
    files.remove("offsets/7")
    assert not checksum.exists()


@pytest.mark.parametrize("write", ["create", "replace"])
def test_a_write_that_fails_leaves_no_part_of_the_file(
    files: CheckpointFiles, monkeypatch: pytest.MonkeyPatch, write: str
) -> None:
    if write == "replace":
        files.create("offsets/7", "old")

    def full(*_: Any, **__: Any) -> None:
        raise OSError("no space left")

    for place in ("os.fsync", "fsspec.implementations.memory.MemoryFileSystem.pipe_file"):
        monkeypatch.setattr(place, full)
    if files.location == "here":
        backend: Any = files._files
        monkeypatch.setattr(backend._system, "pipe_file", full)
    with pytest.raises(CheckpointError, match="offsets/7 cannot be written: no space left"):
        getattr(files, write)("offsets/7", "new")
    assert files.read("offsets/7") == ("old" if write == "replace" else None)
    assert files.names("offsets") == (["7"] if write == "replace" else [])


def test_a_rename_that_fails_leaves_the_old_file(monkeypatch: pytest.MonkeyPatch) -> None:
    files: Any = open_files("memory://renamed/query")
    files.create("offsets/7", "old")
    system = files._files._system
    move = system.mv

    def fail(source: str, target: str) -> None:
        if source.endswith(".tmp"):
            raise OSError("connection lost")
        move(source, target)

    monkeypatch.setattr(system, "mv", fail, raising=False)
    with pytest.raises(CheckpointError, match="offsets/7 cannot be written: connection lost"):
        files.replace("offsets/7", "new")
    assert files.read("offsets/7") == "old"
    assert files.names("offsets") == ["7"]


@pytest.mark.parametrize(("stored", "is_ours"), [("ours", True), ("of a query", False)])
def test_a_lost_answer_of_s3_is_no_other_file(
    stored: str, is_ours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: Any = open_files(
        "s3://bucket/query", Store(region="eu-west-1", options={"key": "k", "secret": "s"})
    )
    texts = iter([None, stored])

    def refuse(**_: Any) -> None:
        raise files._files._client.exceptions.ClientError(
            {"Error": {"Code": "PreconditionFailed", "Message": "exists"}}, "PutObject"
        )

    monkeypatch.setattr(type(files), "read", lambda *_: next(texts))
    monkeypatch.setattr(files._files._client, "put_object", refuse)
    if is_ours:
        files.create("offsets/8", "ours")
    else:
        with pytest.raises(FileExistsError):
            files.create("offsets/8", "ours")


def test_s3_of_a_role_has_the_settings_of_the_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.write_text(
        "[profile minio]\nregion = eu-west-1\naws_access_key_id = k\n"
        "aws_secret_access_key = s\nendpoint_url = http://127.0.0.1:9000\n"
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    settings = CallSettings(role_arn="arn:aws:iam::1:role/r")
    files: Any = open_files("s3://bucket/query", Store(profile="minio", settings=settings))
    assert files._files._client.meta.endpoint_url == "http://127.0.0.1:9000"
    assert files._files._client._request_signer._credentials.method == "spark-kinesis-role"


def test_a_role_needs_credentials_to_be_assumed_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    settings = CallSettings(role_arn="arn:aws:iam::1:role/r")
    with pytest.raises(SparkKinesisError, match="no credentials to assume the role arn:aws"):
        open_files("s3://bucket/query", Store(region="eu-west-1", settings=settings))


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    files = open_files(str(tmp_path))
    files.create("offsets/7", "text")
    with pytest.raises(CheckpointError, match=r"offsets/7/8/9 cannot be written"):
        files.create("offsets/7/8/9", "a file is no folder")
    with pytest.raises(CheckpointError, match=r"offsets/9 cannot be deleted"):
        files.remove("offsets/9")


def test_a_store_that_returns_another_text_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    files = open_files("memory://odd/query")
    monkeypatch.setattr(type(files), "read", lambda *_: "of another command")
    with pytest.raises(CheckpointError, match="returned another text than was written"):
        files.replace("offsets/7", "text")


def test_an_unknown_store_is_doubted(tmp_path: Path) -> None:
    assert open_files(str(tmp_path)).doubt is None
    assert "Let nothing else write there" in str(open_files("memory://odd/query").doubt)


def test_a_file_that_appears_after_the_look_is_replaced_so_the_store_is_doubted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = ArrowFSWrapper(LocalFileSystem())
    files, move = stored(system, str(tmp_path)), system.mv

    def appeared(source: str, file: str) -> None:
        system.pipe_file(file, b"of another command")
        move(source, file)

    monkeypatch.setattr(system, "mv", appeared)
    files.create("offsets/7", "text")
    assert files.read("offsets/7") == "text"
    assert "Let nothing else write there" in str(files.doubt)


def test_hdfs_says_what_to_install() -> None:
    with pytest.raises((MissingPackageError, CheckpointError)) as refused:
        open_files("hdfs://127.0.0.1:1/checkpoints/orders")
    for needed in ("pyarrow", "libhdfs", "HADOOP_HOME"):
        assert needed in str(refused.value)


def test_a_path_that_only_spark_knows_is_refused() -> None:
    with pytest.raises(CheckpointError, match="dbfs: is a path that only Spark knows"):
        open_files("dbfs:/checkpoints/orders")
    assert open_files("C:/checkpoints").location == "C:/checkpoints"


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(CheckpointError, match="odd://bucket/query cannot be opened"):
        open_files("odd://bucket/query")


def test_an_unknown_option_of_s3_is_refused() -> None:
    with pytest.raises(CheckpointError, match=r"'endpoint' is no option of S3.*endpoint_url"):
        open_files("s3://bucket/query", Store(options={"endpoint": "http://127.0.0.1:1"}))


@pytest.mark.parametrize(
    ("options", "method"),
    [({}, "spark-kinesis-role"), ({"key": "k", "secret": "s"}, "explicit")],
)
def test_s3_is_called_with_the_role_and_the_proxy_of_the_calls(
    options: dict[str, str], method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    settings = CallSettings(role_arn="arn:aws:iam::1:role/r", proxy="http://p:1", ca_bundle="pem")
    store = Store(region="eu-west-1", settings=settings, options=options)
    client: Any = open_files("s3://bucket/query", store)
    client = client._files._client
    assert client._request_signer._credentials.method == method
    assert client.meta.config.proxies == {"http": "http://p:1", "https": "http://p:1"}
    assert client._endpoint.http_session._verify == "pem"
    assert "'s'" not in repr(store)


def test_keys_in_a_url_are_masked() -> None:
    with pytest.raises(CheckpointError) as refused:
        open_files("odd://AKID:se@cret@bucket/query@1")
    assert str(refused.value).startswith("the checkpoint odd://***@bucket/query@1 cannot be opened")
    assert "cret" not in str(refused.value)
    assert "AKID" not in str(refused.value)
    assert refused.value.__cause__ is None
    with pytest.raises(
        CheckpointError, match=r"s3://\*\*\*@bucket/query cannot be opened"
    ) as refused:
        open_files("s3://AKID:sec/ret@bucket/query", Store(region="eu-west-1"))
    assert "ret" not in str(refused.value)


@given(st.from_regex(r"[A-Z0-9]{4,20}", fullmatch=True), st.text("abc/+=:", min_size=1))
def test_no_secret_is_shown(key: str, secret: str) -> None:
    place = f"s3://{key}:1/x{secret}y@bucket/orders"
    assert shown(f"{place}: refused") == "s3://***@bucket/orders: refused"


def test_a_store_of_objects_is_asked_for_a_new_one(tmp_path: Path) -> None:
    files = stored(fsspec.filesystem("local"), str(tmp_path), has_objects=True)
    (tmp_path / "offsets").mkdir()
    files.create("offsets/7", "first")
    with pytest.raises(FileExistsError):
        files._files.write("offsets/7", b"second", is_new=True)
    files.replace("offsets/7", "third")
    assert files.read("offsets/7") == "third"
