"""Writes to streams, on the installed wheel: one Spark session, streams for each test.

Batch and streaming writes, order per key, aggregates, rows that cannot be records, and a service
that refuses calls. What was written is read back with boto3 or with independent readers of
aggregates.
"""
