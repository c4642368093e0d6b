"""The errors of this package.

An argument of the wrong type raises ``TypeError``, and a value that Python cannot pass on raises
``ValueError``. The connector checks all other values: those of a source when a DataFrame is
defined, those of a sink when a batch write begins, or with the first micro-batch of a query.
Errors in the connector itself reach Python as Spark exceptions with a condition ``KINESIS_...``.
"""

from __future__ import annotations


class SparkKinesisError(Exception):
    """Base class of all exceptions of this package."""


class JarNotFoundError(SparkKinesisError):
    """This package contains no jar for the installed Spark version. The message names the file."""


class KinesisJarMissingError(SparkKinesisError):
    """The connector's jar is not in the running Spark session. The message says how to add it."""


class MissingPackageError(SparkKinesisError):
    """An optional Python package is not installed. The message names the package."""


class GeneratorError(SparkKinesisError):
    """The record generator could not write the records."""


class CheckpointError(SparkKinesisError):
    """The checkpoint of a query is missing or cannot be read. The message names the file."""


class MigrationError(SparkKinesisError):
    """Positions of another consumer cannot be taken over, or handed back.

    The message names the stream, the shard and the remedy.
    """


class LocalKinesisError(SparkKinesisError):
    """The local Kinesis did not start, or an operation on it failed."""
