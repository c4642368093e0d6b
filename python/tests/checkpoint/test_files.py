"""Files of a checkpoint: the same through the local file system and through pyarrow."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from spark_kinesis import CheckpointError
from spark_kinesis.checkpoint import CheckpointFiles, open_files
from spark_kinesis.checkpoint.files import StoreKeys, _open_remote, _RemoteFiles, is_s3


@pytest.fixture(params=["path", "URL", "pyarrow"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> CheckpointFiles:
    root = tmp_path / "a query"
    if request.param == "path":
        return open_files(str(root))
    if request.param == "URL":
        return open_files(root.as_uri())
    (root / "aside").mkdir(parents=True)  # a store of objects has no folders
    (root / "offsets").mkdir()
    return _open_remote(root.as_uri(), "file", None)


def test_a_file_is_written_read_and_moved(files: CheckpointFiles) -> None:
    files.write("offsets/7", "first")
    files.write("offsets/7", "seventh")
    assert files.read("offsets/7") == "seventh"
    assert files.names("offsets") == ["7"]
    files.move("offsets/7", "aside/7")
    assert files.read("offsets/7") is None
    assert files.read("aside/7") == "seventh"


def test_a_file_has_the_time_of_its_last_change(files: CheckpointFiles) -> None:
    before = datetime.now(timezone.utc) - timedelta(minutes=1)
    files.write("offsets/7", "text")
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
    checksum.write_text("of the old text")
    files.write("offsets/7", "text")
    assert not checksum.exists()
    checksum.write_text("of the text that goes")
    files.move("offsets/7", "aside/7")
    assert not checksum.exists()


def test_a_file_that_cannot_be_read_or_written_is_named(files: CheckpointFiles) -> None:
    files.write("offsets/7", "text")
    with pytest.raises(CheckpointError, match=r"offsets/7/8 cannot be written"):
        files.write("offsets/7/8", "a file is no folder")
    with pytest.raises(CheckpointError, match=r"offsets/9 cannot be moved"):
        files.move("offsets/9", "aside/9")


def test_a_store_that_refuses_a_file_when_it_is_closed_is_named() -> None:
    class Refusing:
        def open_output_stream(self, _: str) -> Refusing:
            return self

        def __enter__(self) -> Refusing:  # noqa: PYI034 Python 3.10 has no Self
            return self

        def write(self, _: bytes) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            raise OSError("AccessDenied")

    files = _RemoteFiles("s3://bucket/query", Refusing(), "bucket/query", None)
    with pytest.raises(CheckpointError, match="offsets/7 cannot be written: AccessDenied"):
        files.write("offsets/7", "text")


def test_a_path_that_only_spark_knows_is_refused() -> None:
    with pytest.raises(CheckpointError, match="dbfs: is a path that only Spark knows"):
        open_files("dbfs:/checkpoints/orders")
    assert open_files("C:/checkpoints").location == "C:/checkpoints"


def test_s3_is_told_by_its_url() -> None:
    assert is_s3("s3://bucket/query")
    assert is_s3("s3a://bucket/query")
    assert not is_s3("/checkpoints/s3")
    assert "hush" not in repr(StoreKeys("ID", "hush", "hush"))


def test_an_unknown_store_is_refused() -> None:
    with pytest.raises(CheckpointError, match="odd://bucket/query cannot be opened"):
        open_files("odd://bucket/query")


def test_keys_in_a_url_are_masked() -> None:
    with pytest.raises(CheckpointError) as refused:
        open_files("odd://AKID:se@cret@bucket/query@1")
    assert str(refused.value).startswith("the checkpoint odd://***@bucket/query@1 cannot be opened")
    assert "cret" not in str(refused.value)
    assert "AKID" not in str(refused.value)
    assert refused.value.__cause__ is None
    files = open_files("s3://AKID:secret@bucket/query?region=eu-west-1")
    assert files.location == "s3://***@bucket/query?region=eu-west-1"


def test_keys_show_nothing_of_themselves() -> None:
    assert repr(StoreKeys("KEY", "SECRET", "TOKEN")) == "StoreKeys()"
