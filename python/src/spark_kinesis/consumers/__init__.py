"""Lists, registers and deregisters the consumers of enhanced fan-out of a stream.

The command is ``python -m spark_kinesis.consumers``. It needs boto3: ``pip install boto3``.
"""
