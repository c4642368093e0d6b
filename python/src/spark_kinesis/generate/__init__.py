r"""Writes made-up records to a stream at a steady rate: ``python -m spark_kinesis.generate``.

To a local Kinesis, four records of ten for one customer::

    python -m spark_kinesis.generate --stream orders --endpoint http://127.0.0.1:4567 \\
      --rate 500 --seconds 60 --keys 100 --hot-keys 1 --hot-share 0.4 \\
      --template '{"id": {{counter}}, "customer": "{{key}}", "price": {{random 0.50 99.99}}}'

Needs boto3, and shows more with rich: ``pip install 'spark-kinesis[generate]'``. Records are
written at least once, as by any producer: a request without an answer is sent again.
"""
