"""Live views of a query: per shard lag, rates, the shard tree, the batch and a forecast.

``model`` has the figures, ``outside`` and ``inside`` get the facts from a checkpoint or from a
running query, and ``show`` renders them.
"""

from __future__ import annotations
