"""Which shards of a stream to split or merge, from its traffic.

``layout`` decides, without calls. ``measure`` asks CloudWatch and samples records, ``reshard``
splits and merges, and ``command`` is the command line.
"""
