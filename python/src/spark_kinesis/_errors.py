"""What can go wrong on the Python side.

SparkKinesisError
├── JarNotFoundError          this installation carries no connector jar
├── KinesisJarMissingError    the running Spark session has no connector jar
├── MissingPackageError       an optional Python package is needed and not installed
├── GeneratorError       the record generator could not write what it was asked to
└── LocalKinesisError    the local Kinesis did not start, or did not do what it was asked
    ├── KinesisRefusedError   it answered with an error, whose name is ``code``
    └── NoAnswerError         it did not answer

Wrong types of arguments are ``TypeError``, impossible combinations ``ValueError``. What the
connector itself refuses reaches Python as Spark's own exceptions, with a ``KINESIS_...`` condition.
"""

from __future__ import annotations


class SparkKinesisError(Exception):
    """Base of every error of this package."""


class JarNotFoundError(SparkKinesisError):
    """This installation carries no connector jar."""


class KinesisJarMissingError(SparkKinesisError):
    """The Spark session was started without the connector jar."""


class MissingPackageError(SparkKinesisError):
    """An optional Python package is needed and not installed; the message tells which."""


class GeneratorError(SparkKinesisError):
    """The record generator could not write what it was asked to."""


class LocalKinesisError(SparkKinesisError):
    """The local Kinesis did not start, or did not do what it was asked."""


class KinesisRefusedError(LocalKinesisError):
    """The local Kinesis answered a call with an error.

    Attributes:
        code: the error's name, such as ``ResourceNotFoundException``.
    """

    def __init__(self, asked: str, code: str, message: str) -> None:
        """Say what was asked, and what the answer was."""
        super().__init__(f"{asked}: {code}: {message}")
        self.code = code


class NoAnswerError(LocalKinesisError):
    """The local Kinesis did not answer: it is not running, or a fault took the answer."""
