"""Tests of `spark_kinesis.checkpoint`."""
