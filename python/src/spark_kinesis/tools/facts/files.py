"""The files of a checkpoint: in a local folder, in S3, or in another store that fsspec knows.

A file appears under its name whole or not at all. ``create`` never writes over a file, except
in a store that has a ``doubt``, such as HDFS.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit
from urllib.request import url2pathname

from spark_kinesis._boto import CallSettings, code_of, is_from_aws, session
from spark_kinesis._errors import CheckpointError, MissingPackageError

_S3 = re.compile(r"s3[an]?://(?:(?P<key>[^:@/]+):(?P<secret>.+)@)?(?P<bucket>[^/?@:]+)(?P<rest>.*)")
_S3_OPTIONS = ("endpoint_url", "region", "profile", "key", "secret", "token")
_ATTEMPTS = 5
_KEY_ARGUMENTS = {
    "key": "aws_access_key_id",
    "secret": "aws_secret_access_key",
    "token": "aws_session_token",
}
# An S3 URL has no port.
_S3_KEYS = re.compile(r"(s3[an]?://)[^:@/\s]+:[^\s@]+@")
# A secret may contain a slash. After a colon, digits alone are a port.
_KEYS = re.compile(r"://(?:[^/\s]*@|[^/\s:]+:(?!\d+/)[^\s@]*@)")
# Their older versions ignore the condition for new objects, and replace one.
_OBJECTS = {"abfs": "adlfs", "abfss": "adlfs", "az": "adlfs", "gcs": "gcsfs", "gs": "gcsfs"}
_OLDEST = (2024, 12)
_NEEDS = {
    **{scheme: f"{it} 2024.12 or newer" for scheme, it in _OBJECTS.items()},
    "hdfs": "pyarrow, Hadoop's native library libhdfs, and the variables HADOOP_HOME and CLASSPATH",
}


_DOUBT = (
    "The store of the checkpoint is not known to refuse a second file with the same name. The "
    "command looks before it writes, and reads what it wrote. Let nothing else write there."
)


class CheckpointFiles(Protocol):
    """The files of one checkpoint. Paths are relative to its folder, such as ``offsets/7``."""

    @property
    def location(self) -> str:
        """The folder of the checkpoint, as the user gave it, but without keys: for people."""

    @property
    def doubt(self) -> str | None:
        """A sentence if it is not known that ``create`` never writes over a file."""

    def names(self, folder: str) -> list[str]:
        """Names in a folder. Empty if the folder does not exist."""

    def read(self, path: str) -> str | None:
        """The text of a file. ``None`` if the file does not exist."""

    def modified(self, path: str) -> datetime | None:
        """When a file was written, in UTC. ``None`` if the file does not exist."""

    def create(self, path: str, text: str) -> None:
        """Write a new file. ``FileExistsError`` if there is one."""

    def replace(self, path: str, text: str) -> None:
        """Write a file in place of another one."""

    def remove(self, path: str) -> None:
        """Delete a file."""


def shown(text: str) -> str:
    """A text for people and logs, with ``***`` in place of the keys in its URLs."""
    return _KEYS.sub("://***@", _S3_KEYS.sub(r"\1***@", text))


@dataclass(frozen=True, kw_only=True)
class Store:
    """How to open a checkpoint that is not in a local folder.

    Attributes:
        user: name of the feature that opens it, for errors.
        region: AWS region of the calls of Kinesis.
        profile: profile of these calls, which is also that of S3.
        settings: role, proxy and certificates of these calls, which are also those of S3.
        options: options of the store. For S3: ``endpoint_url``, ``region``, ``profile``, ``key``,
            ``secret`` and ``token``. With a profile or keys of its own, the role is not used. For
            other stores those of their fsspec package.
    """

    user: str = "a checkpoint in S3"
    region: str | None = None
    profile: str | None = None
    settings: CallSettings = field(default_factory=CallSettings)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)


def open_files(location: str, store: Store | None = None) -> CheckpointFiles:
    """The files of a checkpoint.

    Args:
        location: a path, a ``file:`` URL, or a URL such as ``s3://bucket/checkpoints/orders``.
        store: how to open it if it is not a local folder.

    Raises:
        MissingPackageError: if a URL needs a package that is not installed.
        CheckpointError: if the URL cannot be opened.
    """
    address, store = urlsplit(location), store or Store()
    if address.scheme in ("file", "local"):
        return _LocalFiles(location, Path(url2pathname(address.path)))
    if location.startswith(("s3://", "s3a://", "s3n://")):
        return _open_s3(location, store)
    if "://" in location:
        return _open_store(location, address.scheme, store.options)
    if len(address.scheme) > 1:  # one letter is a drive of Windows
        raise CheckpointError(
            f"the checkpoint {location} cannot be opened: {address.scheme}: is a path that only "
            "Spark knows. Copy the folder, or name its place in the store, such as s3://bucket/path"
        )
    return _LocalFiles(location, Path(location).expanduser())


@contextmanager
def _explained(location: str, path: str, action: str) -> Iterator[None]:
    """Names the file in an error of a store, whichever it raises."""
    try:
        yield
    except FileExistsError:
        raise
    except Exception as error:
        if not isinstance(error, (OSError, ValueError, NotImplementedError)) and not is_from_aws(
            error
        ):
            raise
        raise CheckpointError(
            shown(f"the checkpoint {location}: {path} cannot be {action}: {error}")
        ) from error


def _link(unfinished: Path, file: Path) -> None:
    """Give a file its name, unless there is one: a rename would replace it."""
    try:
        os.link(unfinished, file)
    except FileExistsError:
        raise
    except OSError:  # not every file system has links
        with file.open("x", encoding="utf-8") as stream:
            stream.write(unfinished.read_text("utf-8"))


class _LocalFiles:
    doubt: str | None = None

    def __init__(self, location: str, root: Path) -> None:
        self.location = location
        self._root = root

    def names(self, folder: str) -> list[str]:
        path = self._root / folder
        with _explained(self.location, folder, "read"):
            return sorted(it.name for it in path.iterdir()) if path.is_dir() else []

    def read(self, path: str) -> str | None:
        file = self._root / path
        with _explained(self.location, path, "read"):
            return file.read_text("utf-8") if file.is_file() else None

    def modified(self, path: str) -> datetime | None:
        file = self._root / path
        with _explained(self.location, path, "read"):
            if not file.is_file():
                return None
            return datetime.fromtimestamp(file.stat().st_mtime, timezone.utc)

    def create(self, path: str, text: str) -> None:
        self._write(path, text, _link)

    def replace(self, path: str, text: str) -> None:
        self._write(path, text, os.replace)

    def _write(self, path: str, text: str, publish: Callable[[Path, Path], None]) -> None:
        file = self._root / path
        with _explained(self.location, path, "written"):
            if file.parent.exists() and not file.parent.is_dir():
                raise NotADirectoryError(f"{file.parent} is no folder")
            file.parent.mkdir(parents=True, exist_ok=True)
            unfinished = file.with_name(f".{file.name}.{os.getpid()}.tmp")
            try:
                with unfinished.open("w", encoding="utf-8") as stream:
                    stream.write(text)
                    stream.flush()
                    os.fsync(stream.fileno())
                self._forget_checksum(file)
                publish(unfinished, file)
            finally:
                unfinished.unlink(missing_ok=True)

    def remove(self, path: str) -> None:
        file = self._root / path
        with _explained(self.location, path, "deleted"):
            file.unlink()
            self._forget_checksum(file)

    @staticmethod
    def _forget_checksum(file: Path) -> None:
        """Hadoop's local file system keeps one beside a file, and refuses to read another text."""
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def _open_s3(location: str, store: Store) -> CheckpointFiles:
    """S3 by boto3, so that credentials and endpoints are found as for the calls of Kinesis."""
    given = store.options
    unknown = sorted(set(given) - set(_S3_OPTIONS))
    if unknown:
        raise CheckpointError(
            f"the checkpoint {shown(location)}: {unknown[0]!r} is no option of S3. Its options are "
            f"{', '.join(_S3_OPTIONS)}."
        )
    found = _S3.fullmatch(location)
    if found is None or "?" in location:
        raise CheckpointError(
            f"the checkpoint {shown(location)} cannot be opened: it is no URL such as "
            "s3://bucket/checkpoints/orders. Other settings are options of the store, such as "
            "--storage-option endpoint_url=URL."
        )
    keys = {"key": found["key"], "secret": found["secret"]} if found["key"] else {}
    # In front of keys in the URL come the profile and the role of the calls of Kinesis.
    keys = {**({} if store.profile or store.settings.role_arn else keys), **given}
    has_own = "profile" in given or "key" in keys
    settings = replace(store.settings, role_arn=None) if has_own else store.settings
    opened = session(
        store.user,
        None,  # also a local server has keys of its own
        given.get("region") or store.region,
        given.get("profile") or (None if "key" in keys else store.profile),
        keys={argument: keys[it] for it, argument in _KEY_ARGUMENTS.items() if it in keys},
        settings=settings,
    )
    from botocore.config import Config  # noqa: PLC0415 comes with boto3

    endpoint, region = given.get("endpoint_url"), given.get("region")
    config = settings.config(endpoint, _ATTEMPTS)
    if endpoint:
        # A bucket in the path of the endpoint works with every server, one in its name does not.
        config = config.merge(Config(s3={"addressing_style": "path"}))
    try:
        client = opened.client(
            "s3",
            endpoint_url=endpoint,
            region_name=region,
            config=config,
            verify=settings.ca_bundle,
        )
    except Exception as error:
        if not isinstance(error, ValueError) and not is_from_aws(error):
            raise
        refusal = f"the checkpoint {location} cannot be opened: {error}"
        raise CheckpointError(shown(refusal)) from None
    return _S3Files(shown(location), client, found["bucket"], found["rest"].strip("/"))


class _S3Files:
    """Objects of a bucket. They appear whole, and a condition refuses to replace one."""

    doubt: str | None = None

    def __init__(self, location: str, client: Any, bucket: str, root: str) -> None:
        self.location = location
        self._client, self._bucket, self._root = client, bucket, root

    def _object(self, path: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": f"{self._root}/{path}".lstrip("/")}

    def names(self, folder: str) -> list[str]:
        prefix = self._object(folder)["Key"] + "/"
        request = {"Bucket": self._bucket, "Prefix": prefix, "Delimiter": "/"}
        found: set[str] = set()
        with _explained(self.location, folder, "read"):
            for page in self._client.get_paginator("list_objects_v2").paginate(**request):
                found.update(it["Key"][len(prefix) :] for it in page.get("Contents", ()))
                found.update(
                    it["Prefix"][len(prefix) : -1] for it in page.get("CommonPrefixes", ())
                )
        return sorted(found - {""})

    def read(self, path: str) -> str | None:
        found = self._got(self._client.get_object, path)
        with _explained(self.location, path, "read"):
            return None if found is None else found["Body"].read().decode()

    def modified(self, path: str) -> datetime | None:
        found = self._got(self._client.head_object, path)
        return None if found is None else found["LastModified"].astimezone(timezone.utc)

    def _got(self, call: Callable[..., Any], path: str) -> Any:
        with _explained(self.location, path, "read"):
            try:
                return call(**self._object(path))
            except self._client.exceptions.ClientError as error:
                if code_of(error) not in ("NoSuchKey", "404"):
                    raise
                return None

    def create(self, path: str, text: str) -> None:
        if self.read(path) is not None:  # not every server knows the condition
            raise FileExistsError(path)
        with _explained(self.location, path, "written"):
            try:
                self._client.put_object(**self._object(path), Body=text.encode(), IfNoneMatch="*")
            except self._client.exceptions.ClientError as error:
                if code_of(error) not in ("PreconditionFailed", "ConditionalRequestConflict"):
                    raise
                # The answer to an attempt that wrote it may be lost, and boto3 tries again.
                if self.read(path) != text:
                    raise FileExistsError(path) from error

    def replace(self, path: str, text: str) -> None:
        with _explained(self.location, path, "written"):
            self._client.put_object(**self._object(path), Body=text.encode())

    def remove(self, path: str) -> None:
        with _explained(self.location, path, "deleted"):
            self._client.delete_object(**self._object(path))


def _open_store(location: str, scheme: str, options: Mapping[str, str]) -> CheckpointFiles:
    try:
        import fsspec  # noqa: PLC0415 optional
    except ImportError as error:
        needs = " ".join(["fsspec", *([_NEEDS[scheme]] if scheme in _NEEDS else [])])
        raise MissingPackageError(f"the checkpoint {shown(location)} needs {needs}") from error
    try:
        system, root = fsspec.core.url_to_fs(location, **options)
    except ImportError as error:
        needs = _NEEDS.get(scheme, "the package of its store for fsspec")
        raise MissingPackageError(
            f"the checkpoint {shown(location)} needs {needs}: {shown(str(error))}"
        ) from error
    except Exception as error:  # noqa: BLE001 each package has errors of its own
        needs = f" It needs {_NEEDS[scheme]}." if scheme in _NEEDS else ""
        first = (str(error).splitlines() or [type(error).__name__])[0]
        refusal = f"the checkpoint {location} cannot be opened: {first}.{needs}"
        raise CheckpointError(shown(refusal)) from None
    return _StoreFiles(shown(location), system, root.rstrip("/"), scheme)


def _is_old(package: str) -> bool:
    """Whether a package is too old, or built from a source that does not say its version."""
    try:
        year, month, *_ = version(package).split(".")
        return (int(year), int(month)) < _OLDEST
    except (PackageNotFoundError, ValueError):
        return True


class _StoreFiles:
    """Files of a store of fsspec.

    Stores of objects know a condition for new objects. Elsewhere, a file is written beside its
    place and renamed, after a look: HDFS refuses to rename over a file, but pyarrow then deletes
    that file and tries again.
    """

    def __init__(self, location: str, system: Any, root: str, scheme: str) -> None:
        self.location = location
        self._system, self._root, self._scheme = system, root, scheme
        self._has_objects = scheme in _OBJECTS
        self.doubt = None if self._has_objects else _DOUBT

    def names(self, folder: str) -> list[str]:
        place = f"{self._root}/{folder}"
        with _explained(self.location, folder, "read"):
            self._system.invalidate_cache()
            if not self._system.isdir(place):
                return []
            found = self._system.ls(place, detail=False)
        return sorted(it.rstrip("/").rpartition("/")[2] for it in found)

    def read(self, path: str) -> str | None:
        with _explained(self.location, path, "read"):
            try:
                return bytes(self._system.cat_file(f"{self._root}/{path}")).decode()
            except (FileNotFoundError, NotADirectoryError):
                return None

    def modified(self, path: str) -> datetime | None:
        with _explained(self.location, path, "read"):
            try:
                found: datetime | None = self._system.modified(f"{self._root}/{path}")
            except (FileNotFoundError, NotADirectoryError):
                return None
        return None if found is None else found.astimezone(timezone.utc)

    def create(self, path: str, text: str) -> None:
        if self._has_objects and _is_old(_OBJECTS[self._scheme]):
            raise CheckpointError(f"to write {self.location} needs {_NEEDS[self._scheme]}")
        self._write(path, text, is_new=True)

    def replace(self, path: str, text: str) -> None:
        self._write(path, text, is_new=False)

    def _write(self, path: str, text: str, *, is_new: bool) -> None:
        file, data = f"{self._root}/{path}", text.encode()
        with _explained(self.location, path, "written"):
            if self._has_objects:
                self._system.pipe_file(file, data, mode="create" if is_new else "overwrite")
            else:
                self._rename(path, file, data, is_new=is_new)
            if self.read(path) != text:
                raise OSError("the store returned another text than was written: is it in use?")

    def _rename(self, path: str, file: str, data: bytes, *, is_new: bool) -> None:
        folder, _, name = file.rpartition("/")
        unfinished = f"{folder}/.{name}.{os.getpid()}.tmp"
        old = f"{folder}/.{name}.{os.getpid()}.old"
        self._system.makedirs(folder, exist_ok=True)
        try:
            self._system.pipe_file(unfinished, data)
            if self._system.exists(file):
                if is_new:
                    raise FileExistsError(path)
                self._system.mv(file, old)
            self._system.mv(unfinished, file)
        finally:
            if self._system.exists(old):
                if self._system.exists(file):
                    self._system.rm_file(old)
                else:
                    self._system.mv(old, file)
            if self._system.exists(unfinished):
                self._system.rm_file(unfinished)

    def remove(self, path: str) -> None:
        with _explained(self.location, path, "deleted"):
            self._system.rm_file(f"{self._root}/{path}")
