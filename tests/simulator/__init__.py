"""The local Kinesis over HTTP, with boto3 and with the package's own classes as clients.

One server serves most tests; ``calls`` records which operations each test calls, and
``localstack/conformance.py`` makes the table of conformance from that. The tests in ``commands``
do not count: they are about commands of the package. The tests need the installed wheel and Java,
but no Spark session.
"""
