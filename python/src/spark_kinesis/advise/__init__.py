"""How many shards, where to split and merge, which capacity mode, and how large a job.

Pure planners in ``shards`` and ``choices`` decide over measured rates. ``measure`` reads CloudWatch
and samples records, and ``apply`` splits and merges shards after a confirmation.
"""
