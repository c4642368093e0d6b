"""The connector at work on a local Kinesis: ``make demo``, or ``python -m spark_kinesis.demo``.

A made-up web server writes access-log lines to the stream ``access-log``. A PySpark query parses
them and writes each line to ``parsed`` and, for each micro-batch, its lines per HTTP status to
``status-counts``. Meanwhile a shard is split, the query is stopped and started again from its
checkpoint, and two shards are merged. What a plain Kinesis client then finds downstream is held
against what was written.

Read ``story`` first.
"""
