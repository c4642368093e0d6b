r"""Writes generated or recorded records to a stream: ``python -m spark_kinesis.generate``.

To a local Kinesis, with 40 % of the records for one customer::

    python -m spark_kinesis.generate --stream orders --endpoint http://127.0.0.1:4567 \\
      --rate 500 --seconds 60 --keys 100 --hot-keys 1 --hot-share 0.4 \\
      --template '{"id": {{counter}}, "customer": "{{key}}", "price": {{random 0.50 99.99}}}'

Needs boto3, and rich for a progress bar: ``pip install 'spark-kinesis[generate]'``. It writes each
record at least once: it sends a request again if no answer comes.
"""
