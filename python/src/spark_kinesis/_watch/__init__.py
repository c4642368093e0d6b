"""Live views of a query: per shard lag, rates, the shard tree, the batch and a forecast.

``snapshot`` has the figures, ``inside`` gets the facts from a running query, and the other files
show them. ``spark_kinesis.tools.top`` gets the facts from a checkpoint, and shows the same.
"""

from __future__ import annotations
