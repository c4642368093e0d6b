"""Amazon Kinesis Data Streams for Apache Spark: a source, a sink, and a local Kinesis.

``KinesisSource`` and ``KinesisSink`` check types and build Spark options. The connector itself is a
jar file, which this package contains (see ``jar_path``). ``with_kinesis`` adds it to a session.
``schema`` is the schema of the source's DataFrames. ``columns`` contains their column names.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from . import columns
from ._errors import (
    CheckpointError,
    GeneratorError,
    JarNotFoundError,
    KinesisJarMissingError,
    LocalKinesisError,
    MigrationError,
    MissingPackageError,
    SparkKinesisError,
)
from ._options.access import (
    AssumeRole,
    Credentials,
    CredentialsProvider,
    Profile,
    Proxy,
    StaticCredentials,
    Timeouts,
)
from ._options.positions import (
    AfterSequenceNumber,
    AtSequenceNumber,
    AtTimestamp,
    ByShard,
    ByStream,
    Latest,
    Position,
    ShardPosition,
    TrimHorizon,
)
from ._session.builder import with_kinesis
from ._session.jars import jar_path, version
from ._sink import KinesisSink
from ._source import EnhancedFanOut, KinesisSource
from ._stop import stop_gracefully, stop_on_sigterm

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from ._watch.watching import Watch, watch

    schema: StructType
else:
    _BUILDERS = {
        "Watch": lambda: import_module("._watch.watching", __name__).Watch,
        "schema": columns._schema,  # noqa: SLF001
        "watch": lambda: import_module("._watch.watching", __name__).watch,
    }

    def __getattr__(name: str) -> object:
        """Build what few programs use at its first use, so that importing this module is quick.

        In particular, importing it must not load pyspark.

        Raises:
            AttributeError: if the module has no such attribute.
        """
        if name not in _BUILDERS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = _BUILDERS[name]()
        return globals()[name]


__version__ = version()

__all__ = [
    "AfterSequenceNumber",
    "AssumeRole",
    "AtSequenceNumber",
    "AtTimestamp",
    "ByShard",
    "ByStream",
    "CheckpointError",
    "Credentials",
    "CredentialsProvider",
    "EnhancedFanOut",
    "GeneratorError",
    "JarNotFoundError",
    "KinesisJarMissingError",
    "KinesisSink",
    "KinesisSource",
    "Latest",
    "LocalKinesisError",
    "MigrationError",
    "MissingPackageError",
    "Position",
    "Profile",
    "Proxy",
    "ShardPosition",
    "SparkKinesisError",
    "StaticCredentials",
    "Timeouts",
    "TrimHorizon",
    "Watch",
    "__version__",
    "columns",
    "jar_path",
    "schema",
    "stop_gracefully",
    "stop_on_sigterm",
    "watch",
    "with_kinesis",
]
