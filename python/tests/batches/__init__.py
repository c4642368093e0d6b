"""Tests of `spark_kinesis.batches`."""
