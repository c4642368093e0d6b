"""The errors of this package.

SparkKinesisError
├── JarNotFoundError         this installation has no jar for the Spark in use
├── KinesisJarMissingError   the running Spark session has no connector
├── MissingPackageError      an optional Python package is needed and not installed
├── GeneratorError           the record generator could not write the records
└── LocalKinesisError        the local Kinesis did not start, or could not do what was asked
    ├── KinesisRefusedError  the local Kinesis answered with an error, whose name is ``code``
    └── NoAnswerError        the local Kinesis did not answer

Arguments of a wrong type raise ``TypeError``, values that cannot be ``ValueError``. Errors of the
connector reach Python as Spark's own exceptions, with a condition ``KINESIS_...``.
"""

from __future__ import annotations


class SparkKinesisError(Exception):
    """Base of every error of this package."""


class JarNotFoundError(SparkKinesisError):
    """This installation has no jar for the Spark in use. The message names the file."""


class KinesisJarMissingError(SparkKinesisError):
    """The running Spark session has no connector. The message says how to add it."""


class MissingPackageError(SparkKinesisError):
    """An optional Python package is needed and not installed. The message names it."""


class GeneratorError(SparkKinesisError):
    """The record generator could not write the records."""


class LocalKinesisError(SparkKinesisError):
    """The local Kinesis did not start, or could not do what was asked."""


class KinesisRefusedError(LocalKinesisError):
    """The local Kinesis answered a call with an error.

    Attributes:
        code: name of the error, such as ``ResourceNotFoundException``.
    """

    def __init__(self, asked: str, code: str, message: str) -> None:
        """Join the call and the answer into a message."""
        super().__init__(f"{asked}: {code}: {message}")
        self.code = code


class NoAnswerError(LocalKinesisError):
    """The local Kinesis did not answer: it is not running, or a fault removed the answer."""
