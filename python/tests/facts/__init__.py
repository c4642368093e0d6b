"""Tests of `spark_kinesis.tools.facts`."""
