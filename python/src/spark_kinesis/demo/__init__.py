"""A demo of the connector on a local Kinesis: ``make demo``, or ``python -m spark_kinesis.demo``.

Threads write lines of a web server's log to the stream ``access-log``. A PySpark query parses them,
writes each line to ``parsed``, and writes the number of lines per HTTP status of each micro-batch
to ``status-counts``. Meanwhile the demo splits a shard, restarts the query from its checkpoint, and
merges two shards. At the end it compares the lines written with the lines that boto3 reads from
``parsed``. Start to read in ``story``.
"""
