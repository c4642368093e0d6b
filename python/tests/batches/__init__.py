"""Tests of `spark_kinesis.tools.history`."""
