"""Tests of the command `spark-kinesis`."""
