"""Room for new shards in the account. Makes no calls."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from spark_kinesis._errors import SparkKinesisError
from spark_kinesis.advise.shards import Merge, Step


def need_room(steps: Collection[Step], limits: Any) -> None:
    """Check the shard limit of the account before the first call.

    Args:
        steps: all steps, in their order.
        limits: the answer of ``DescribeLimits``.

    Raises:
        SparkKinesisError: if the account would have more shards than its limit at any time.
    """
    count = most = 0
    for step in steps:
        count += -1 if isinstance(step, Merge) else 1
        most = max(most, count)
    limit, present = limits["ShardLimit"], limits["OpenShardCount"]
    if present + most > limit:
        raise SparkKinesisError(
            f"the account has {present} open shards in this region, and its limit is {limit}. The "
            f"change needs {most} more for a while. Ask AWS for a higher limit, or set a higher "
            "--target."
        )
