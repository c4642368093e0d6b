"""Amazon Kinesis Data Streams for Apache Spark: a source, a sink, and a local Kinesis.

``KinesisSource`` and ``KinesisSink`` check types and build Spark options. The connector itself is a
jar file, which this package contains (see ``jar_path``). ``with_kinesis`` adds it to a session.
``schema`` is the schema of the source's DataFrames. ``columns`` contains their column names.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from . import columns
from ._errors import (
    GeneratorError,
    JarNotFoundError,
    KinesisJarMissingError,
    KinesisRefusedError,
    LocalKinesisError,
    MissingPackageError,
    NoAnswerError,
    SparkKinesisError,
)
from ._options.consumers import EnhancedFanOut
from ._options.credentials import AssumeRole, Credentials, Profile, StaticCredentials
from ._options.position_maps import ByShard, ByStream
from ._options.positions import (
    AfterSequenceNumber,
    AtSequenceNumber,
    AtTimestamp,
    Latest,
    Position,
    PositionWord,
    ShardPosition,
    TrimHorizon,
)
from ._session.builder import with_kinesis
from ._session.jars import jar_path
from ._sink import KinesisSink
from ._source import KinesisSource
from ._stop import stop_gracefully, stop_on_sigterm

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    schema: StructType
else:

    def __getattr__(name: str) -> object:
        """Build ``schema`` at its first use, because importing this module must not load pyspark.

        Raises:
            AttributeError: if the module has no such attribute.
        """
        if name != "schema":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        built = columns._schema()  # noqa: SLF001 public as `schema` alone
        globals()[name] = built
        return built


__version__ = files(__name__).joinpath("VERSION").read_text().strip()

__all__ = [
    "AfterSequenceNumber",
    "AssumeRole",
    "AtSequenceNumber",
    "AtTimestamp",
    "ByShard",
    "ByStream",
    "Credentials",
    "EnhancedFanOut",
    "GeneratorError",
    "JarNotFoundError",
    "KinesisJarMissingError",
    "KinesisRefusedError",
    "KinesisSink",
    "KinesisSource",
    "Latest",
    "LocalKinesisError",
    "MissingPackageError",
    "NoAnswerError",
    "Position",
    "PositionWord",
    "Profile",
    "ShardPosition",
    "SparkKinesisError",
    "StaticCredentials",
    "TrimHorizon",
    "__version__",
    "columns",
    "jar_path",
    "schema",
    "stop_gracefully",
    "stop_on_sigterm",
    "with_kinesis",
]
