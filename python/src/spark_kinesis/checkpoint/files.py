"""The files of a checkpoint: in a local folder, or in a store that pyarrow knows, such as S3."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast
from urllib.parse import urlsplit
from urllib.request import url2pathname

from spark_kinesis._errors import CheckpointError, MissingPackageError

from .shown import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

_HADOOP_S3 = ("s3a", "s3n")


class CheckpointFiles(Protocol):
    """The files of one checkpoint. Paths are relative to its folder, such as ``offsets/7``."""

    @property
    def location(self) -> str:
        """The folder of the checkpoint, as the user gave it, but without keys: for people."""

    def names(self, folder: str) -> list[str]:
        """Names in a folder. Empty if the folder does not exist."""

    def read(self, path: str) -> str | None:
        """The text of a file. ``None`` if the file does not exist."""

    def modified(self, path: str) -> datetime | None:
        """When a file was written, in UTC. ``None`` if the file does not exist."""

    def write(self, path: str, text: str) -> None:
        """Write a file, also over an existing one. It is never incomplete under its name."""

    def move(self, path: str, target: str) -> None:
        """Give a file another path."""


@dataclass(frozen=True)
class StoreKeys:
    """Keys for S3, if not those that S3 finds itself."""

    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    session_token: str | None = field(repr=False, default=None)


def is_s3(location: str) -> bool:
    """Whether a checkpoint is in S3. Hadoop's ``s3a:`` is S3, too."""
    return urlsplit(location).scheme in ("s3", *_HADOOP_S3)


def open_files(location: str, keys: StoreKeys | None = None) -> CheckpointFiles:
    """The files of a checkpoint.

    Args:
        location: a path, a ``file:`` URL, or a URL such as ``s3://bucket/checkpoints/orders``.
        keys: keys for S3. Default: the default chain of the AWS SDK for C++, which pyarrow uses.

    Raises:
        MissingPackageError: if a URL needs pyarrow, and it is not installed.
        CheckpointError: if the URL cannot be opened.
    """
    address = urlsplit(location)
    if address.scheme == "file":
        return _LocalFiles(location, Path(url2pathname(address.path)))
    if "://" in location:
        return _open_remote(location, address.scheme, keys)
    if len(address.scheme) > 1:  # one letter is a drive of Windows
        raise CheckpointError(
            f"the checkpoint {location} cannot be opened: {address.scheme}: is a path that only "
            "Spark knows. Copy the folder, or name its place in the store, such as s3://bucket/path"
        )
    return _LocalFiles(location, Path(location).expanduser())


def _open_remote(location: str, scheme: str, keys: StoreKeys | None) -> CheckpointFiles:
    try:
        from pyarrow import fs  # noqa: PLC0415 optional, and slow to load
    except ImportError as error:
        raise MissingPackageError(
            f"the checkpoint {shown(location)} needs pyarrow: pip install pyarrow"
        ) from error
    address = "s3" + location[len(scheme) :] if scheme in _HADOOP_S3 else location
    try:
        system, root = fs.FileSystem.from_uri(address)
        if keys is not None:
            system = fs.S3FileSystem(
                access_key=keys.access_key,
                secret_key=keys.secret_key,
                session_token=keys.session_token,
                region=system.region,
            )
    except (OSError, ValueError) as error:
        refusal = f"the checkpoint {location} cannot be opened: {error}"
        raise CheckpointError(shown(refusal)) from None
    return _RemoteFiles(shown(location), system, root, fs)


@contextmanager
def _explained(location: str, path: str, action: str) -> Iterator[None]:
    try:
        yield
    except (OSError, UnicodeDecodeError) as error:
        raise CheckpointError(
            f"the checkpoint {location}: {path} cannot be {action}: {error}"
        ) from error


class _LocalFiles:
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

    def write(self, path: str, text: str) -> None:
        file = self._root / path
        with _explained(self.location, path, "written"):
            file.parent.mkdir(parents=True, exist_ok=True)
            unfinished = file.with_name(f".{file.name}.{os.getpid()}.tmp")
            unfinished.write_text(text, "utf-8")
            # Hadoop's local file system keeps a checksum beside a file, and refuses to read
            # another text.
            file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
            unfinished.replace(file)

    def move(self, path: str, target: str) -> None:
        file, aside = self._root / path, self._root / target
        with _explained(self.location, path, "moved"):
            aside.parent.mkdir(parents=True, exist_ok=True)
            file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
            file.replace(aside)


class _RemoteFiles:
    """Files of a store of objects, where a written file appears whole."""

    def __init__(self, location: str, system: Any, root: str, fs: Any) -> None:
        self.location = location
        self._system, self._root, self._fs = system, root.rstrip("/"), fs

    def names(self, folder: str) -> list[str]:
        chosen = self._fs.FileSelector(f"{self._root}/{folder}", allow_not_found=True)
        with _explained(self.location, folder, "read"):
            return sorted(it.base_name for it in self._system.get_file_info(chosen))

    def read(self, path: str) -> str | None:
        file = f"{self._root}/{path}"
        with _explained(self.location, path, "read"):
            if self._system.get_file_info(file).type != self._fs.FileType.File:
                return None
            with self._system.open_input_stream(file) as stream:
                return bytes(stream.read()).decode()

    def modified(self, path: str) -> datetime | None:
        with _explained(self.location, path, "read"):
            found = self._system.get_file_info(f"{self._root}/{path}").mtime
        return None if found is None else cast("datetime", found).astimezone(timezone.utc)

    def write(self, path: str, text: str) -> None:
        # A store may refuse the file as late as when it is closed.
        with (
            _explained(self.location, path, "written"),
            self._system.open_output_stream(f"{self._root}/{path}") as stream,
        ):
            stream.write(text.encode())

    def move(self, path: str, target: str) -> None:
        with _explained(self.location, path, "moved"):
            self._system.move(f"{self._root}/{path}", f"{self._root}/{target}")
