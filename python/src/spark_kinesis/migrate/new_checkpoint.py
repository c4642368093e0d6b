"""Writes the checkpoint of a query that has not started yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis._errors import MigrationError
from spark_kinesis.checkpoint.log import initial_path
from spark_kinesis.checkpoint.offset import SourceOffset, encode

if TYPE_CHECKING:
    from spark_kinesis.checkpoint import CheckpointFiles


def require_new(files: CheckpointFiles, source: str) -> None:
    """Refuse a checkpoint of a query that has begun.

    Raises:
        MigrationError: names the checkpoint.
    """
    if files.names("offsets") or files.read(initial_path(source)) is not None:
        raise MigrationError(
            f"the checkpoint {files.location} belongs to a query that has begun. Choose a folder "
            "that does not exist yet. To move a query of this connector, use spark-kinesis rewind."
        )


def write_new(files: CheckpointFiles, source: str, offset: SourceOffset) -> None:
    """Write the position at which a source of a new query begins.

    Args:
        files: the files of the checkpoint.
        source: number of the source in the query, from 0, or its name.
        offset: the position.

    Raises:
        MigrationError: if the query has begun.
    """
    require_new(files, source)
    files.write(initial_path(source), encode(offset))
