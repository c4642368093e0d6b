"""A Kinesis on this machine, for demos and for your own tests: no Docker, no AWS account.

From Python::

    with LocalKinesis(streams={"orders": 2}) as kinesis:
        source = KinesisSource(stream_name="orders", **kinesis.access)

From a shell, until Ctrl-C::

    spark-kinesis local orders:2 --port 4567

In a pytest test, the fixture ``local_kinesis``: see ``spark_kinesis.pytest_plugin``. The server
is a Java program of its own; ``_server`` starts it, ``_calls`` sends requests to it.
"""

from __future__ import annotations

from ._address import Access
from ._calls.faults import Fault, FaultName
from ._calls.records import NewRecord, Record
from ._calls.shards import Shard
from ._calls.stats import Stats
from ._endpoint import LocalEndpoint
from ._kinesis import LocalKinesis
from ._server.behaviour import Behaviour

__all__ = [
    "Access",
    "Behaviour",
    "Fault",
    "FaultName",
    "LocalEndpoint",
    "LocalKinesis",
    "NewRecord",
    "Record",
    "Shard",
    "Stats",
]
