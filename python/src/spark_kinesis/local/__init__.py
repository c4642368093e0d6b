"""A Kinesis on this machine, for demos and for your own tests: no Docker, no AWS account.

From Python::

    with LocalKinesis(streams={"orders": 2}) as kinesis:
        source = KinesisSource(stream_name="orders", **kinesis.access)

From a shell, until Ctrl-C::

    spark-kinesis local orders:2 --port 4567

In a pytest test, the fixture ``local_kinesis``: see ``spark_kinesis.pytest_plugin``.

The server is a Java program of its own, which ``_kinesis`` starts. Streams, shards and records are
reached with boto3, of the extra ``[testing]``. Starting and stopping, the address, faults, the
clock and the statistics need no other package.
"""

from __future__ import annotations

from ._admin import Fault, FaultName, Stats
from ._endpoint import Access, LocalEndpoint, NewRecord, Record, Shard
from ._kinesis import LocalKinesis

__all__ = [
    "Access",
    "Fault",
    "FaultName",
    "LocalEndpoint",
    "LocalKinesis",
    "NewRecord",
    "Record",
    "Shard",
    "Stats",
]
