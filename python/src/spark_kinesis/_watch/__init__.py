"""Live views of a query: how far each shard is behind, and whether the query catches up.

``inside`` gets the facts from a running query, and ``spark_kinesis.tools.top`` from a checkpoint.
``snapshot`` has the figures that follow from them, and the other files show these.
"""

from __future__ import annotations
