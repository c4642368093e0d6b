"""One room for the facts that all tools share: each rule about streams and checkpoints, said once.

``streams`` has settings, shards and lineage; ``records`` what is at a position; ``losses`` when
records have expired; ``checkpoints`` and ``files`` the checkpoint of a query;
``aggregates`` what a record contains; ``cloudwatch`` what a stream received.
"""
