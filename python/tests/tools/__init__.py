"""Tests of the tools: what the command `spark-kinesis` runs."""
