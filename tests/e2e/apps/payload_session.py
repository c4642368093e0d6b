"""Decodes the documented samples in Spark Connect, and prints the outcomes. Run by a test."""

from __future__ import annotations

from pyspark.sql import SparkSession

from spark_kinesis import payloads, with_kinesis
from tests.e2e.support.payloads import SAMPLES, sample_outcomes


def main() -> None:
    """Print the outcomes of all samples, as Python writes them, in the last line."""
    spark = with_kinesis(SparkSession.Builder().remote("local[2]")).getOrCreate()
    payloads.register(spark)
    print({name: sample_outcomes(spark, name) for name in SAMPLES})


if __name__ == "__main__":
    main()
