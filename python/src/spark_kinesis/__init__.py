"""Amazon Kinesis Data Streams for Apache Spark: a source, a sink, and a local Kinesis.

Everything here builds Spark options and checks types; the connector itself is the jar inside
this package (see :func:`jar_path`). A session gets it with :func:`with_kinesis`.
"""

from __future__ import annotations

from importlib.resources import files

from ._credentials import AssumeRole, Profile, StaticCredentials
from ._errors import (
    GeneratorError,
    JarNotFound,
    KinesisJarMissing,
    KinesisRefused,
    LocalKinesisError,
    MissingPackage,
    NoAnswer,
    SparkKinesisError,
)
from ._jar import jar_path
from ._positions import (
    AfterSequenceNumber,
    AtSequenceNumber,
    AtTimestamp,
    ByShard,
    ByStream,
    Latest,
    TrimHorizon,
)
from ._session import with_kinesis
from ._sink import KinesisSink
from ._source import KinesisSource

__version__ = files(__name__).joinpath("VERSION").read_text().strip()

__all__ = [
    "AfterSequenceNumber",
    "AssumeRole",
    "AtSequenceNumber",
    "AtTimestamp",
    "ByShard",
    "ByStream",
    "GeneratorError",
    "JarNotFound",
    "KinesisJarMissing",
    "KinesisRefused",
    "KinesisSink",
    "KinesisSource",
    "Latest",
    "LocalKinesisError",
    "MissingPackage",
    "NoAnswer",
    "Profile",
    "SparkKinesisError",
    "StaticCredentials",
    "TrimHorizon",
    "__version__",
    "jar_path",
    "with_kinesis",
]
