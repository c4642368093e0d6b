"""The demo and the record generator, without Spark and without a Kinesis.

Their parts as functions: log lines, verdicts, templates, pace, retries, command lines.
"""
