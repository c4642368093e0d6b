"""Reads of streams, on the installed wheel: one Spark session, a stream for each test.

Streaming and batch reads, positions, triggers, limits, resharding, aggregates, data loss and
checkpoints. Most tests run against each local Kinesis there is, in turn. What a query delivered is
compared with what boto3 wrote.
"""
