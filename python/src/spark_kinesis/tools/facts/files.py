"""The files of a checkpoint: in a local folder, in S3, or in another store that fsspec knows.

A file appears under its name whole or not at all. ``create`` never writes over a file, except at
the same moment in a store that has a ``doubt``, such as HDFS.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit
from urllib.request import url2pathname

from spark_kinesis._boto import CallSettings, code_of, session
from spark_kinesis._errors import CheckpointError, MissingPackageError, SparkKinesisError

_S3 = ("s3", "s3a", "s3n")
_S3_OPTIONS = ("endpoint_url", "region", "profile", "key", "secret", "token")
_KEY_ARGUMENTS = {
    "key": "aws_access_key_id",
    "secret": "aws_secret_access_key",
    "token": "aws_session_token",
}
_ATTEMPTS = 5
# An S3 URL has no port.
_S3_KEYS = re.compile(r"(s3[an]?://)[^:@/\s]+:[^\s@]+@")
# A secret may contain a slash. After a colon, digits alone are a port.
_KEYS = re.compile(r"://(?:[^/\s]*@|[^/\s:]+:(?!\d+/)[^\s@]*@)")
# Stores of objects know a condition for new objects. Older packages ignore it.
_OBJECTS = {"abfs": "adlfs", "abfss": "adlfs", "az": "adlfs", "gcs": "gcsfs", "gs": "gcsfs"}
_NEEDS = {scheme: f"{package} 2024.12 or newer" for scheme, package in _OBJECTS.items()} | {
    "hdfs": "pyarrow, Hadoop's native library libhdfs, and the variables HADOOP_HOME and CLASSPATH"
}
_DOUBT = (
    "The store of the checkpoint is not known to refuse a second file with the same name. The "
    "command looks before it writes, and reads what it wrote. Let nothing else write there."
)


def shown(text: str) -> str:
    """A text for people and logs, with ``***`` in place of the keys in its URLs."""
    return _KEYS.sub("://***@", _S3_KEYS.sub(r"\1***@", text))


@dataclass(frozen=True, kw_only=True)
class Store:
    """How to open a checkpoint that is not in a local folder.

    Region, profile and settings are those of the calls of Kinesis. S3 uses them, too.

    Attributes:
        options: options of the store. For S3: ``endpoint_url``, ``region``, ``profile``, ``key``,
            ``secret`` and ``token``. With a profile or keys of its own, the role is not used. For
            other stores those of their fsspec package.
    """

    user: str = "a checkpoint in S3"  # name of the feature that opens it, for errors
    region: str | None = None
    profile: str | None = None
    settings: CallSettings = field(default_factory=CallSettings)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)


class _Files(Protocol):
    """The files in one kind of store. They raise the errors of the store."""

    doubt: str | None

    def names(self, folder: str) -> Iterable[str]: ...
    def read(self, path: str) -> bytes | None: ...
    def modified(self, path: str) -> datetime | None: ...
    def write(self, path: str, data: bytes, *, is_new: bool) -> None: ...
    def remove(self, path: str) -> None: ...


class CheckpointFiles:
    """The files of one checkpoint. Paths are relative to its folder, such as ``offsets/7``.

    All methods raise ``CheckpointError`` with the name of the file if the store fails.

    Attributes:
        location: the folder of the checkpoint, as the user gave it, but without keys: for people.
        doubt: a sentence if it is not known that ``create`` never writes over a file.
    """

    def __init__(self, location: str, files: _Files) -> None:
        """Read nothing yet. ``open_files`` chooses the store."""
        self.location, self.doubt = location, files.doubt
        self._files = files

    def names(self, folder: str) -> list[str]:
        """Names in a folder. Empty if the folder does not exist."""
        with self._explained(folder, "read"):
            return sorted(self._files.names(folder))

    def read(self, path: str) -> str | None:
        """The text of a file. ``None`` if the file does not exist."""
        with self._explained(path, "read"):
            data = self._files.read(path)
            return None if data is None else data.decode()

    def modified(self, path: str) -> datetime | None:
        """When a file was written, in UTC. ``None`` if the file does not exist."""
        with self._explained(path, "read"):
            found = self._files.modified(path)
            return None if found is None else found.astimezone(timezone.utc)

    def create(self, path: str, text: str) -> None:
        """Write a new file. ``FileExistsError`` if there is one."""
        if self.read(path) is not None:  # not every server knows the condition
            raise FileExistsError(path)
        try:
            self._write(path, text, is_new=True)
        except FileExistsError:
            # The answer to an attempt that wrote it may be lost, and boto3 tries again.
            if self.read(path) != text:
                raise

    def replace(self, path: str, text: str) -> None:
        """Write a file in place of another one."""
        self._write(path, text, is_new=False)

    def _write(self, path: str, text: str, *, is_new: bool) -> None:
        with self._explained(path, "written"):
            self._files.write(path, text.encode(), is_new=is_new)
            if self.doubt is not None and self.read(path) != text:
                raise OSError("the store returned another text than was written: is it in use?")

    def remove(self, path: str) -> None:
        """Delete a file."""
        with self._explained(path, "deleted"):
            self._files.remove(path)

    @contextmanager
    def _explained(self, path: str, action: str) -> Iterator[None]:
        """Names the file in an error of a store, whichever it raises."""
        try:
            yield
        except FileExistsError:
            raise
        except Exception as error:
            raise CheckpointError(
                shown(f"the checkpoint {self.location}: {path} cannot be {action}: {error}")
            ) from error


def open_files(location: str, store: Store | None = None) -> CheckpointFiles:
    """The files of a checkpoint.

    Args:
        location: a path, a ``file:`` URL, or a URL such as ``s3://bucket/checkpoints/orders``.
        store: how to open it if it is not a local folder.
    """
    address, store = urlsplit(location), store or Store()
    scheme = address.scheme
    if scheme in ("file", "local"):
        return CheckpointFiles(location, _LocalFiles(Path(url2pathname(address.path))))
    if "://" not in location:
        if len(scheme) <= 1:  # one letter is a drive of Windows
            return CheckpointFiles(location, _LocalFiles(Path(location).expanduser()))
        raise CheckpointError(
            f"the checkpoint {location} cannot be opened: {scheme}: is a path that only Spark "
            "knows. Copy the folder, or name its place in the store, such as s3://bucket/path"
        )
    try:
        found = _open_s3(location, store) if scheme in _S3 else _open_store(location, store.options)
    except SparkKinesisError:
        raise
    except Exception as error:  # noqa: BLE001 each package has errors of its own
        kind = MissingPackageError if isinstance(error, ImportError) else CheckpointError
        first = (str(error).splitlines() or [type(error).__name__])[0]
        needs = f" It needs fsspec and {_NEEDS[scheme]}." if scheme in _NEEDS else ""
        refusal = shown(f"the checkpoint {location} cannot be opened: {first}.{needs}")
        raise kind(refusal) from None  # the error may contain keys
    return CheckpointFiles(shown(location), found)


class _LocalFiles:
    doubt: str | None = None

    def __init__(self, root: Path) -> None:
        self._root = root

    def names(self, folder: str) -> Iterable[str]:
        path = self._root / folder
        return [it.name for it in path.iterdir()] if path.is_dir() else []

    def read(self, path: str) -> bytes | None:
        file = self._root / path
        return file.read_bytes() if file.is_file() else None

    def modified(self, path: str) -> datetime | None:
        file = self._root / path
        if not file.is_file():
            return None
        return datetime.fromtimestamp(file.stat().st_mtime, timezone.utc)

    def write(self, path: str, data: bytes, *, is_new: bool) -> None:
        file = self._root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_name(f".{file.name}.{os.getpid()}.tmp")
        try:
            with unfinished.open("wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            self._forget_checksum(file)
            if is_new:
                self._link(unfinished, file)
            else:
                unfinished.replace(file)
        finally:
            unfinished.unlink(missing_ok=True)

    @staticmethod
    def _link(unfinished: Path, file: Path) -> None:
        """Give a file its name, unless there is one: a rename would replace it."""
        try:
            os.link(unfinished, file)
        except FileExistsError:
            raise
        except OSError:  # not every file system has links
            with file.open("xb") as stream:
                stream.write(unfinished.read_bytes())

    def remove(self, path: str) -> None:
        file = self._root / path
        file.unlink()
        self._forget_checksum(file)

    @staticmethod
    def _forget_checksum(file: Path) -> None:
        """Hadoop's local file system keeps one beside a file, and refuses to read another text."""
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def _open_s3(location: str, store: Store) -> _Files:
    """S3 by boto3, so that credentials and endpoints are found as for the calls of Kinesis."""
    given = store.options
    unknown = sorted(set(given) - set(_S3_OPTIONS))
    if unknown:
        raise ValueError(
            f"{unknown[0]!r} is no option of S3. Its options are {', '.join(_S3_OPTIONS)}"
        )
    found = re.fullmatch(r"s3[an]?://([^/?@:]+)(?:/([^?]*))?", location)
    if found is None:
        raise ValueError(
            "it is no URL such as s3://bucket/checkpoints/orders. Keys and other settings are "
            "options of the store, such as --storage-option endpoint_url=URL"
        )
    has_own = "profile" in given or "key" in given
    settings = replace(store.settings, role_arn=None) if has_own else store.settings
    opened = session(
        store.user,
        None,  # also a local server has keys of its own
        given.get("region") or store.region,
        given.get("profile") or (None if "key" in given else store.profile),
        keys={argument: given[it] for it, argument in _KEY_ARGUMENTS.items() if it in given},
        settings=settings,
    )
    from botocore.config import Config  # noqa: PLC0415 comes with boto3

    endpoint = given.get("endpoint_url")
    config = settings.config(endpoint, _ATTEMPTS)
    if endpoint:
        # A bucket in the path of the endpoint works with every server, one in its name does not.
        config = config.merge(Config(s3={"addressing_style": "path"}))
    client = opened.client("s3", endpoint_url=endpoint, config=config, verify=settings.ca_bundle)
    return _S3Files(client, found[1], (found[2] or "").strip("/"))


class _S3Files:
    """Objects of a bucket. They appear whole, and a condition refuses to replace one."""

    doubt: str | None = None

    def __init__(self, client: Any, bucket: str, root: str) -> None:
        self._client, self._bucket, self._root = client, bucket, root

    def _object(self, path: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": f"{self._root}/{path}".lstrip("/")}

    def names(self, folder: str) -> Iterable[str]:
        prefix = self._object(folder)["Key"] + "/"
        request = {"Bucket": self._bucket, "Prefix": prefix, "Delimiter": "/"}
        found: set[str] = set()
        for page in self._client.get_paginator("list_objects_v2").paginate(**request):
            found.update(it["Key"] for it in page.get("Contents", ()))
            found.update(it["Prefix"] for it in page.get("CommonPrefixes", ()))
        return [it[len(prefix) :].rstrip("/") for it in found if it != prefix]

    def read(self, path: str) -> bytes | None:
        found = self._found(self._client.get_object, path)
        return None if found is None else bytes(found["Body"].read())

    def modified(self, path: str) -> datetime | None:
        found = self._found(self._client.head_object, path)
        return None if found is None else found["LastModified"]

    def _found(self, call: Callable[..., dict[str, Any]], path: str) -> dict[str, Any] | None:
        try:
            return call(**self._object(path))
        except self._client.exceptions.ClientError as error:
            if code_of(error) not in ("NoSuchKey", "404"):
                raise
            return None

    def write(self, path: str, data: bytes, *, is_new: bool) -> None:
        condition = {"IfNoneMatch": "*"} if is_new else {}
        try:
            self._client.put_object(**self._object(path), Body=data, **condition)
        except self._client.exceptions.ClientError as error:
            if code_of(error) not in ("PreconditionFailed", "ConditionalRequestConflict"):
                raise
            raise FileExistsError(path) from error

    def remove(self, path: str) -> None:
        self._client.delete_object(**self._object(path))


def _open_store(location: str, options: Mapping[str, str]) -> _Files:
    import fsspec  # noqa: PLC0415 optional

    system, root = fsspec.core.url_to_fs(location, **options)
    return _StoreFiles(system, root.rstrip("/"), has_objects=urlsplit(location).scheme in _OBJECTS)


class _StoreFiles:
    """Files of a store of fsspec.

    In stores without a condition for new objects, a file is written beside its place and renamed.
    HDFS refuses to rename over a file, but pyarrow then deletes that file and tries again.
    """

    doubt: str | None = _DOUBT

    def __init__(self, system: Any, root: str, *, has_objects: bool) -> None:
        self._system, self._root, self._has_objects = system, root, has_objects

    def names(self, folder: str) -> Iterable[str]:
        place = f"{self._root}/{folder}"
        self._system.invalidate_cache()
        found = self._system.ls(place, detail=False) if self._system.isdir(place) else []
        return [it.rstrip("/").rpartition("/")[2] for it in found]

    def read(self, path: str) -> bytes | None:
        try:
            return bytes(self._system.cat_file(f"{self._root}/{path}"))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def modified(self, path: str) -> datetime | None:
        try:
            found: datetime | None = self._system.modified(f"{self._root}/{path}")
        except (FileNotFoundError, NotADirectoryError):
            return None
        return found

    def write(self, path: str, data: bytes, *, is_new: bool) -> None:
        file = f"{self._root}/{path}"
        if self._has_objects:
            self._system.pipe_file(file, data, mode="create" if is_new else "overwrite")
            return
        folder, _, name = file.rpartition("/")
        unfinished = f"{folder}/.{name}.{os.getpid()}.tmp"
        self._system.makedirs(folder, exist_ok=True)
        try:
            self._system.pipe_file(unfinished, data)
            self._system.mv(unfinished, file)
        finally:
            if self._system.exists(unfinished):
                self._system.rm_file(unfinished)

    def remove(self, path: str) -> None:
        self._system.rm_file(f"{self._root}/{path}")
