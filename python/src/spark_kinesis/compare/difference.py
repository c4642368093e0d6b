"""Which rows are missing, repeated or different, by a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# The columns of the source that identify a row: `docs/reference/columns.md`.
IDENTITY = ("stream", "shardId", "sequenceNumber", "subSequenceNumber")
_EXAMPLES = 10
_SIDES = ("left", "right")


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How two sets of rows differ.

    Attributes:
        left: number of rows on the left side.
        right: number of rows on the right side.
        only_left: number of keys that only the left side has.
        only_right: number of keys that only the right side has.
        repeated_left: rows of the left side beyond the first one of their key.
        repeated_right: rows of the right side beyond the first one of their key.
        different: keys of both sides whose compared columns have other values.
        examples: up to ten keys with a problem. Each is a mapping of the key's columns, and
            ``problem`` says what is wrong.
    """

    left: int
    right: int
    only_left: int
    only_right: int
    repeated_left: int
    repeated_right: int
    different: int
    examples: tuple[dict[str, Any], ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether both sides have the same rows, each once."""
        problems = (self.only_left, self.only_right, self.repeated_left, self.repeated_right)
        return not any(problems) and not self.different


def compare(
    left: DataFrame,
    right: DataFrame,
    *,
    key: Sequence[str] = IDENTITY,
    columns: Sequence[str] = (),
) -> Difference:
    """Compare two sets of rows in two Spark jobs.

    Args:
        left: the rows that should be there, such as those of a source.
        right: the rows that are there, such as those of a sink.
        key: columns that identify a row. Two nulls are equal.
        columns: further columns whose values must be equal.

    Raises:
        ValueError: if a side has no such column, or if there is no key.
    """
    _check(left, right, key, columns)
    pairs = _pairs(left, right, key, columns).persist()
    try:
        total = pairs.agg(*_totals()).first()
        examples = pairs.where("problem IS NOT NULL").drop("nLeft", "nRight").limit(_EXAMPLES)
        shown = tuple(row.asDict() for row in examples.collect())
    finally:
        pairs.unpersist()
    found = {} if total is None else total.asDict()
    return Difference(examples=shown, **{name: int(value or 0) for name, value in found.items()})


def _check(left: DataFrame, right: DataFrame, key: Sequence[str], columns: Sequence[str]) -> None:
    if not key:
        raise ValueError("key must name at least one column")
    for side, frame in zip(_SIDES, (left, right), strict=True):
        missing = [name for name in (*key, *columns) if name not in frame.columns]
        if missing:
            raise ValueError(
                f"the {side} side has no column {', '.join(missing)}. "
                f"It has: {', '.join(frame.columns)}"
            )


def _pairs(
    left: DataFrame, right: DataFrame, key: Sequence[str], columns: Sequence[str]
) -> DataFrame:
    """One row per key: how often each side has it, and what is wrong."""
    from pyspark.sql import functions as f  # noqa: PLC0415 slow to load

    value = f.xxhash64(*(f.col(it) for it in columns)) if columns else f.lit(0)
    sides = [
        frame.select(*key, value.alias("value"), f.lit(name).alias("side"))
        for name, frame in zip(_SIDES, (left, right), strict=True)
    ]
    is_left = f.col("side") == _SIDES[0]
    # Groups, because a join would not match nulls.
    counted = sides[0].unionByName(sides[1]).groupBy(*key)
    counts = counted.agg(
        f.count_if(is_left).alias("nLeft"),
        f.count_if(~is_left).alias("nRight"),
        f.sort_array(f.collect_set(f.when(is_left, f.col("value")))).alias("valuesLeft"),
        f.sort_array(f.collect_set(f.when(~is_left, f.col("value")))).alias("valuesRight"),
    )
    return counts.select(*key, "nLeft", "nRight", _problem().alias("problem"))


def _problem() -> Column:
    from pyspark.sql import functions as f  # noqa: PLC0415

    return (
        f.when(f.col("nRight") == 0, "only left")
        .when(f.col("nLeft") == 0, "only right")
        .when(f.col("valuesLeft") != f.col("valuesRight"), "different")
        .when(f.col("nLeft") > 1, "repeated left")
        .when(f.col("nRight") > 1, "repeated right")
    )


def _totals() -> list[Column]:
    from pyspark.sql import functions as f  # noqa: PLC0415

    def keys(problem: str) -> Column:
        return f.count_if(f.col("problem") == problem)

    def beyond_the_first(side: str) -> Column:
        return f.sum(f.greatest(f.col(side) - 1, f.lit(0)))

    return [
        f.sum("nLeft").alias("left"),
        f.sum("nRight").alias("right"),
        keys("only left").alias("only_left"),
        keys("only right").alias("only_right"),
        beyond_the_first("nLeft").alias("repeated_left"),
        beyond_the_first("nRight").alias("repeated_right"),
        keys("different").alias("different"),
    ]
