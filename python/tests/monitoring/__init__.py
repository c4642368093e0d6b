"""Tests of `spark_kinesis.monitoring`."""
