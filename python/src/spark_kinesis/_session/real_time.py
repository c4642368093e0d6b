"""What Spark's real-time mode needs in a session, so that the sink can run in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FIRST_SPARK = (4, 1)
_PREFIX = "spark.sql.streaming.realTimeMode"

SETTINGS = {
    # Spark has a list of the sinks and operators that it allows, with no other connector on it.
    f"{_PREFIX}.allowlistCheck": "false",
    # Spark 4.3 turns this on for every stateless query, and refuses it for sinks that it does not
    # know. Older versions ignore the setting.
    f"{_PREFIX}.asyncProgressTrackingByDefault.enabled": "false",
}


def with_real_time(builder: SparkSession.Builder, spark: str) -> SparkSession.Builder:
    """Set what real-time mode needs.

    Args:
        builder: the builder of the session.
        spark: version of Spark, such as ``"4.3.0"``.

    Raises:
        ValueError: if this Spark has no real-time mode.
    """
    version = tuple(int(number) for number in re.findall(r"\d+", spark)[:2])
    if version < _FIRST_SPARK:
        raise ValueError(
            f"real_time=True requires Spark 4.1 or later, and this is Spark {spark}, which has no "
            "real-time mode. Remove the argument, and use a trigger of micro-batches"
        )
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder
