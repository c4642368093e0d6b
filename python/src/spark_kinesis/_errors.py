"""What can go wrong on the Python side.

SparkKinesisError
├── JarNotFound          this installation carries no connector jar
├── KinesisJarMissing    the running Spark session has no connector jar
└── LocalKinesisError    the local Kinesis did not start

Wrong types of arguments are ``TypeError``, impossible combinations ``ValueError``. What the
connector itself refuses reaches Python as Spark's own exceptions, with a ``KINESIS_...`` condition.
"""

from __future__ import annotations


class SparkKinesisError(Exception):
    """Base of every error of this package."""


class JarNotFound(SparkKinesisError):
    """This installation carries no connector jar."""


class KinesisJarMissing(SparkKinesisError):
    """The Spark session was started without the connector jar."""


class LocalKinesisError(SparkKinesisError):
    """The local Kinesis did not start."""
